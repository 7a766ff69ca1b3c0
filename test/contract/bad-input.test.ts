import { afterAll, beforeAll, expect, it } from 'vitest'
import { encodeId } from '../../src/graphql/ids.ts'
import { newId } from '../../src/lib/type-id.ts'
import type { Actor } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import type { Answer, GraphqlClient } from '../support/client.ts'
import { knownProject } from '../support/known-projects.ts'
import type { TestSpace } from '../support/world.ts'
import { type Bad, badValuesOf } from './bad-values.ts'
import { digestOf } from './digest.ts'
import { inParallel } from './in-parallel.ts'
import { MUTATION_PLAYS } from './mutation-plays.ts'
import { MUTATIONS, mutationDocument, type Outcome, variablesOf } from './perform.ts'
import { absentOf } from './planted.ts'
import { commitmentOf, kudosOf } from './play-follow-through.ts'
import { awayRangeOf } from './play-personal.ts'
import { linkOf } from './play-room-link.ts'
import { scheduleOf } from './play-schedule.ts'
import { withComment } from './play-standup.ts'
import { withWebhook } from './play-webhook.ts'
import { faultOfAnswer, faultOfOutcome } from './refusal.ts'
import { fieldAt, holds, nameOf, type Slot, slotsOf, valueAt, withValue } from './schema-walk.ts'
import { type Play, Stage } from './stage.ts'

const BATCH = 10

/** Values that look odd and are right there, by the place that declares it. */
const RIGHT: readonly [declared: RegExp, kinds: RegExp][] = [
  // Null clears (PLAT-59 speaks of strings; these say so in their description).
  [/^(StoryEstimateInput\.estimate|StoryMoveInput\.afterId|RoomSelectInput\.storyId)$/, /^null$/],
  [/^AgentUpdateInput\.(rateLimitPerMinute|budgets)$/, /^null$/],
  // May be empty: open spaces, nothing to note, no icon.
  [/^(SpaceCreate|SpaceUpdate|SpaceJoin)Input\.passcode$/, /^(empty|blank)$/],
  [/^Story(Add|Update)Input\.(title|notes|ref)$/, /^(empty|blank)$/],
  [/^Standup(Entry|Ahead)PutInput\.(yesterday|today|blockers)$/, /^(empty|blank)$/],
  // Sunday.
  [/^StandupScheduleSetInput\.weekdays/, /^zero$/],
  [/^ViewerUpdateInput\.avatarIcon$/, /^(empty|blank)$/],
  // No timer.
  [/^StandupConfigInput\.speakerSeconds$/, /^zero$/],
  // When the standup opens.
  [/^CalendarFeed(Mint|Update)Input\.remindMinutes$/, /^zero$/],
  // At once.
  [/^(WebhookRotateSecretInput\.graceHours|ApiKeyRotateInput\.graceMinutes)$/, /^zero$/],
  // Is no password, which is a failed sign-in and as such a fact (ID-23).
  [/^SessionCreateWithPasswordInput\.password$/, /^(empty|blank)$/],
]

/** What admins do to spaces that they need not be in (ID-60 to 62); the deletion is played by an owner of the space. */
const CUSTODY = ['spaceArchive', 'spaceUnarchive', 'spaceClaim', 'spaceAddOwner']

let stage: Stage
/** Ids of each type that are not the caller's to name: of another space, of another org. */
const foreign = new Map<string, string[]>()
beforeAll(async () => {
  stage = await Stage.open(await startApp({ MOOTHALL_ORG_CREATE: 'registered' }))
  const { world, elsewhere, cast } = stage
  const { sameOrg, otherOrg } = elsewhere
  const theirs = await world.pokerRoom({ space: otherOrg.space, host: otherOrg })
  const deck = newId()
  await world.sql(`INSERT INTO rooms.decks (org_id, id, space_id, name, cards) VALUES ($1, $2, $3, 'Deck', '{1,2}')`, [
    otherOrg.orgId,
    deck,
    otherOrg.space.uuid,
  ])
  foreign.set('Space', [sameOrg.space.id, otherOrg.space.id])
  foreign.set('Room', [sameOrg.room.id, theirs.room.id])
  const [comment, theirComment] = [
    await standupComment(sameOrg),
    await standupComment({ ...sameOrg, room: theirs.room, host: otherOrg, member: otherOrg }),
  ]
  foreign.set('StandupEntryComment', [comment, theirComment])
  foreign.set('Story', [sameOrg.stories[0], theirs.stories[0]!])
  foreign.set('Deck', [sameOrg.deckId, encodeId('Deck', deck)])
  foreign.set('User', [otherOrg.id])
  const agent = await world.agent({ orgId: otherOrg.orgId, space: null })
  foreign.set('Agent', [encodeId('Agent', agent.userId)])
  foreign.set('ApiKey', [
    encodeId('ApiKey', agent.keyId),
    encodeId('ApiKey', (await world.adminKey(otherOrg.orgId)).keyId),
  ])
  await withWebhook(world, sameOrg)
  const elsewhereHook = { ...sameOrg, steward: otherOrg, space: otherOrg.space }
  await withWebhook(world, elsewhereHook)
  foreign.set('Webhook', [sameOrg.webhookId, elsewhereHook.webhookId])
  foreign.set('WebhookDelivery', [sameOrg.deliveryId, elsewhereHook.deliveryId])
  foreign.set('Project', [knownProject(otherOrg).id])
  const both = [
    [sameOrg.space, sameOrg.host],
    [otherOrg.space, otherOrg],
  ] as const
  const each = <T>(made: (space: TestSpace, person: Actor) => Promise<T>) =>
    Promise.all(both.map(([space, person]) => made(space, person)))
  foreign.set('StandupSchedule', await each((space) => scheduleOf(world, space)))
  foreign.set('Commitment', await each((space, person) => commitmentOf(world, space, person)))
  foreign.set('Kudos', await each((space, person) => kudosOf(world, space, person)))
  foreign.set('RoomLink', [(await linkOf(world, sameOrg.room)).id, (await linkOf(world, theirs.room)).id])
  foreign.set('AwayRange', [await awayRangeOf(world, cast.deputy), await awayRangeOf(world, otherOrg)])
  foreign.set('Org', [encodeId('Org', otherOrg.orgId)])
  foreign.set('Session', [encodeId('Session', cast.deputy.sessionId), encodeId('Session', otherOrg.sessionId)])
})
afterAll(() => stage?.world.close())

/** A comment in a standup of its own, of a play that stays as it is. */
async function standupComment(play: Play): Promise<string> {
  const own = { ...play }
  await withComment(stage.world, own)
  return own.commentId
}

it.each(MUTATIONS)('PLAT-58, PLAT-59 %s takes nothing that does not belong in its arguments', async (name) => {
  const { client, examples } = await scene(name)
  const cases = slotsOf('Mutation', argsOf(name)).flatMap((slot) => {
    const example = exampleFor(name, slot, examples)
    const bad = badValuesOf(nameOf(name, slot), slot, valueAt(example, slot))
    return bad.filter(({ kind }) => !isRight(slot, kind)).map((each) => ({ slot, ...each, example }))
  })
  const before = await digestOf(stage.world)
  const faults: string[] = []
  const report = ({ slot, kind }: { slot: Slot } & Bad, fault: string | null) => {
    if (fault) faults.push(`${nameOf(name, slot)}, ${kind}, ${fault}`)
  }

  const whole = cases.filter((each) => each.byType)
  await inParallel(whole, async (each) => {
    const answer = await ask(client, [name], [inputOf(each)])
    report(each, answer.fault ?? faultOfOutcome(answer.outcomes[0], answer, undefined))
  })
  const single = cases.filter((each) => !each.byType)
  for (let at = 0; at < single.length; at += BATCH) {
    const some = single.slice(at, at + BATCH)
    const answer = await ask(
      client,
      some.map(() => name),
      some.map(inputOf),
    )
    for (const [n, each] of some.entries()) {
      report(each, answer.fault ?? faultOfOutcome(answer.outcomes[n], answer, each.value))
    }
  }
  expect(faults).toEqual([])
  expect(await digestOf(stage.world)).toEqual(before)
})

it.each(MUTATIONS)(
  'PLAT-58, ROOM-6, ID-8 %s finds no id of elsewhere, as it finds none that names nothing',
  async (name) => {
    const { client, examples } = await scene(name)
    const slots = slotsOf('Mutation', argsOf(name)).filter(({ type }) => /^ID!?$/.test(String(type)))
    const before = await digestOf(stage.world)
    for (const slot of slots) {
      const example = exampleFor(name, slot, examples)
      const own = valueAt(example, slot)
      const type = [...foreign.keys()].find((each) => absentOf(each).slice(0, 4) === String(own).slice(0, 4))
      if (!type) throw new Error(`no foreign ids for ${nameOf(name, slot)}, such as ${String(own)}`)
      const reaches = type === 'Space' && CUSTODY.includes(name) ? [stage.elsewhere.sameOrg.space.id] : []
      const ids = [absentOf(type), ...foreign.get(type)!.filter((id) => !reaches.includes(id))]
      const answer = await ask(
        client,
        ids.map(() => name),
        ids.map((id) => inputOf({ slot, value: id, example })),
      )
      const told = answer.outcomes.map((outcome) => outcome && { code: outcome.code, path: (outcome as NotThere).path })
      expect(told, nameOf(name, slot)).toEqual(ids.map(() => ({ code: 'NOT_FOUND', path: slot.path })))
    }
    expect(await digestOf(stage.world)).toEqual(before)
  },
)

type NotThere = { path?: string[] }
type Case = { slot: Slot; value: unknown; example: object }

const argsOf = (name: string) => fieldAt({ type: 'Mutation', field: name }).args
const inputOf = ({ slot, value, example }: Case): unknown => withValue(example, slot, value)['input']
const isRight = ({ declared }: Slot, kind: string) => RIGHT.some(([at, kinds]) => at.test(declared) && kinds.test(kind))

/** A play in which each of the examples would change something, and whose caller may. */
async function scene(name: string): Promise<{ client: GraphqlClient; examples: { input: object }[] }> {
  const { by, prepare, input, others = [] } = MUTATION_PLAYS[name]!
  const play = await stage.play(by === 'nobody' ? {} : { actor: stage.cast[by] })
  await prepare?.(stage.world, play)
  const examples = [input, ...others].flatMap((make) => (make ? [{ input: make(play) }] : []))
  return { client: by === 'nobody' ? stage.world.app.client() : play[by].client, examples }
}

/** The first example that has the slot filled, or at least what holds it. */
function exampleFor(name: string, slot: Slot, examples: readonly { input: object }[]): object {
  const filled = examples.find((example) => valueAt(example, slot) !== undefined)
  const example = filled ?? examples.find((each) => holds(each, slot))
  if (!example) throw new Error(`no example of ${nameOf(name, slot)}`)
  return example
}

type Asked = Answer & { fault: string | null; outcomes: (Outcome | null | undefined)[] }

async function ask(client: GraphqlClient, names: string[], inputs: unknown[]): Promise<Asked> {
  const answer = await client.post(mutationDocument(names), variablesOf(inputs))
  const text = await answer.text()
  const { data, errors } = JSON.parse(text) as Answer
  const outcomes = names.map((_, at) => data?.[`m${at}`] as Outcome | null | undefined)
  return { data, ...(errors && { errors }), outcomes, fault: faultOfAnswer(answer.status, text) }
}
