import { isDeepStrictEqual } from 'node:util'
import pg from 'pg'
import { sql } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'
import { ConflictError, invalidInput } from '../../graphql/errors.ts'
import { isTimeZone } from '../../lib/time-zone.ts'
import { record } from '../../platform/index.ts'
import { orgUpdated } from './events.ts'
import { lockLivingOrg } from './lock-org.ts'
import { orgNameOf, requireSlug } from './rules.ts'

const SETTINGS_BYTES = 32_768

type OrgUpdate = {
  name?: string | undefined
  slug?: string | undefined
  timeZone?: string | undefined
  retentionDays?: number | undefined
  allowAnonymous?: boolean | undefined
  settings?: unknown
}

/** Changes what the org is called and how it behaves (ID-6). A field left out stays as it is. */
export async function updateOrg(caller: Caller, given: OrgUpdate): Promise<{ orgId: string }> {
  const { orgId } = caller
  const changes = checked(given)
  const org = await lockLivingOrg(caller)
  const now = { ...org, ...changes }
  const fields = FIELDS.filter((field) => !isDeepStrictEqual(now[field], org[field]))
  if (fields.length === 0) return { orgId }

  await sql`
    UPDATE identity.orgs SET slug = ${now.slug}, name = ${now.name}, time_zone = ${now.timeZone},
      retention_days = ${now.retentionDays}, allow_anonymous = ${now.allowAnonymous},
      settings = ${JSON.stringify(now.settings)}::jsonb
    WHERE id = ${orgId}`.catch((error: unknown) => {
    const taken = error instanceof pg.DatabaseError && error.constraint === 'orgs_slug_key'
    throw taken ? new ConflictError('The slug is taken.') : error
  })
  await record(caller, orgUpdated, { target: { kind: 'Org', id: orgId }, payload: { fields } })
  return { orgId }
}

const FIELDS = ['name', 'slug', 'timeZone', 'retentionDays', 'allowAnonymous', 'settings'] as const

/** What is given, fit to be stored. */
function checked({ name, slug, timeZone, retentionDays, allowAnonymous, settings }: OrgUpdate) {
  if (slug !== undefined) requireSlug(slug)
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    throw invalidInput('timeZone', 'must be the name of a time zone, such as Europe/Berlin')
  }
  return {
    ...(name !== undefined && { name: orgNameOf(name) }),
    ...(slug !== undefined && { slug }),
    ...(timeZone !== undefined && { timeZone }),
    ...(retentionDays !== undefined && { retentionDays }),
    ...(allowAnonymous !== undefined && { allowAnonymous }),
    ...(settings !== undefined && { settings: settingsOf(settings) }),
  }
}

function settingsOf(given: unknown): Record<string, unknown> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalidInput('settings', 'must be an object')
  }
  if (Buffer.byteLength(JSON.stringify(given)) > SETTINGS_BYTES) throw invalidInput('settings', 'is too long')
  return given as Record<string, unknown>
}
