import { vi } from 'vitest'
import type { Actor, Asker, Outcome } from '../../support/actor.ts'
import { type App, startApp } from '../../support/app.ts'
import { openReceivers, type Receiver, type Receivers } from '../../support/receiver.ts'
import { createWorld, type TestSpace, uuidOf, type World } from '../../support/world.ts'

/** Receivers of tests are here, in clear text. */
export const WEBHOOK_ENV = { MOOTHALL_EGRESS_ALLOW: '127.0.0.0/8' }

export type Endpoint = { id: string; uuid: string; secret: string; receiver: Receiver }
export type DeliveryRow = {
  id: string
  state: string
  attempts: number
  attempts_before: number
  body: Buffer | null
  last_error: string | null
  /** Seconds to its next attempt. */
  wait: number
  locked_by: string | null
  event_type: string
}

/** A world whose webhooks are received here. */
export class WebhookWorld {
  readonly world: World
  readonly receivers: Receivers

  private constructor(world: World, receivers: Receivers) {
    this.world = world
    this.receivers = receivers
  }

  static async open(app?: App): Promise<WebhookWorld> {
    const world = await createWorld(app ?? (await startApp(WEBHOOK_ENV)))
    return new WebhookWorld(world, await openReceivers())
  }

  async close(): Promise<void> {
    await this.world.close()
    await this.receivers.close()
  }

  /** An endpoint of the org, or of a space, with a receiver of its own. */
  async endpoint({
    by = this.world.owner,
    space,
    eventTypes = ['*'],
    receiver = this.receivers.open(),
  }: {
    by?: Actor
    space?: TestSpace
    eventTypes?: string[]
    receiver?: Receiver
  } = {}): Promise<Endpoint> {
    const made = await this.create(by, { url: receiver.url, eventTypes, ...(space && { spaceId: space.id }) })
    if (made.code) throw new Error(`no endpoint: ${made.code} ${JSON.stringify(made)}`)
    return { id: made.webhook.id, uuid: uuidOf(made.webhook.id), secret: made.secret, receiver }
  }

  create(by: Asker, input: object): Promise<Outcome> {
    return by.mutate('webhookCreate', input, 'secret webhook { id url }')
  }

  /** A space of somebody's, whose events no other test makes. */
  space(owner: Actor = this.world.owner): Promise<TestSpace> {
    return this.world.space({ owner })
  }

  /** Makes one deliverable event of the space. */
  fact(space: TestSpace, title = 'Planning', host: Actor = this.world.owner): Promise<Outcome> {
    return host.mutate(
      'roomCreate',
      { spaceId: space.id, kind: 'poker', title, config: { poker: { deck: { preset: 'FIBONACCI' } } } },
      'room { id }',
    )
  }

  deliveries(endpoint: Pick<Endpoint, 'uuid'>): Promise<DeliveryRow[]> {
    return this.world.sql<DeliveryRow>(
      `SELECT d.id, d.state, d.attempts, d.attempts_before, d.body, d.last_error, d.locked_by, e.event_type,
         extract(epoch FROM d.next_attempt_at - now())::float8 AS wait
       FROM platform.webhook_deliveries AS d JOIN platform.audit_events AS e ON e.org_id = d.org_id AND e.id = d.event_id
       WHERE d.webhook_id = $1 ORDER BY d.created_at, d.id`,
      [endpoint.uuid],
    )
  }

  /** The endpoint's deliveries, once they are so. */
  async untilDeliveries(
    endpoint: Pick<Endpoint, 'uuid'>,
    are: (rows: DeliveryRow[]) => boolean,
    timeout = 30_000,
  ): Promise<DeliveryRow[]> {
    let rows: DeliveryRow[] = []
    await vi.waitUntil(
      async () => {
        rows = await this.deliveries(endpoint)
        return are(rows)
      },
      { timeout, interval: 20 },
    )
    return rows
  }

  attempts(delivery: Pick<DeliveryRow, 'id'>): Promise<Record<string, unknown>[]> {
    return this.world.sql('SELECT * FROM platform.webhook_attempts WHERE delivery_id = $1 ORDER BY attempt', [
      delivery.id,
    ])
  }

  async endpointRow(endpoint: Pick<Endpoint, 'uuid'>): Promise<Record<string, unknown>> {
    const [row] = await this.world.sql('SELECT * FROM platform.webhooks WHERE id = $1', [endpoint.uuid])
    return row!
  }

  /** Makes what waits for its next attempt due. */
  async hurry(endpoint: Pick<Endpoint, 'uuid'>): Promise<void> {
    await this.world.sql(
      `UPDATE platform.webhook_deliveries SET next_attempt_at = now() - interval '1 second' WHERE webhook_id = $1 AND state = 'pending'`,
      [endpoint.uuid],
    )
    await this.world.sql(`SELECT platform.notify_jobs('webhook_delivery')`)
  }
}

export const all =
  (state: string, count = 1) =>
  (rows: DeliveryRow[]): boolean =>
    rows.length === count && rows.every((row) => row.state === state)
