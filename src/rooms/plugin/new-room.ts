import { sql } from '../../db/sql.ts'
import { invalidInput, NotFoundError } from '../../graphql/errors.ts'
import { requireFit } from './json-schema.ts'
import { isEnabled, pluginKinds } from './port.ts'
import { isObject, readState, type State } from './state.ts'

const CONFIG_MAX = 32_768

/** With what a room of a plugin's kind begins (ROOM-30): its config fits, and its state is the package's. */
export async function pluginRoom(
  orgId: string,
  kind: string,
  config: unknown,
): Promise<{ config: object; state: State }> {
  const [row] = await sql<{ installId: string | null }>`
    SELECT install_id AS "installId" FROM rooms.room_kinds WHERE org_id = ${orgId} AND kind = ${kind}`
  const installId = row?.installId ?? null
  if (installId === null || !(await isEnabled(orgId, installId))) throw new NotFoundError('kind')
  const setup = await pluginKinds()?.kindSetup({ orgId, installId, kind })
  if (!setup) throw new NotFoundError('kind')
  if (config === undefined) throw invalidInput('config.plugin', `is what a room of kind ${kind} needs`)
  requireFit(setup.configSchema, config, ['config', 'plugin'])
  if (!isObject(config)) throw invalidInput('config.plugin', 'must be an object')
  if (await isBeyond(config, CONFIG_MAX)) throw invalidInput('config.plugin', 'must have at most 32 KiB')
  const state = readState(setup.initialState, new Set())
  if (!state) throw new TypeError(`the first state of a ${kind} is none`)
  return { config, state }
}

/** As PostgreSQL writes it, which is longer than what came. */
export async function isBeyond(json: object, bytes: number): Promise<boolean> {
  const text = JSON.stringify(json)
  if (Buffer.byteLength(text) > bytes) return true
  const [row] = await sql<{ beyond: boolean }>`SELECT octet_length(${text}::jsonb::text) > ${bytes}::integer AS beyond`
  return row?.beyond ?? true
}
