import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { compareCatalog, type DataModel, readModel } from './compare-catalog.ts'

let database: TestDatabase
let owner: pg.Client
let model: DataModel

beforeAll(async () => {
  database = await createDatabase()
  owner = new pg.Client({ connectionString: database.ownerUrl })
  await owner.connect()
  model = await readModel()
})

afterAll(async () => {
  await owner?.end()
  await database?.drop()
})

async function compareAfter(statement: string): Promise<string[]> {
  await owner.query('BEGIN')
  try {
    await owner.query(statement)
    return await compareCatalog(owner, model)
  } finally {
    await owner.query('ROLLBACK')
  }
}

it('the Prisma model says what the database is', async () => {
  expect(await compareCatalog(owner, model)).toEqual([])
})

describe('the comparison reddens', () => {
  it.each([
    ['ALTER TABLE identity.users ADD nickname text', 'nickname is a column, which User lacks'],
    ['ALTER TABLE identity.users DROP avatar_icon', 'User says that avatar_icon is a column'],
    ['ALTER TABLE identity.users RENAME avatar_icon TO icon', 'icon is a column, which User lacks'],
    ['CREATE TABLE work.things (id uuid)', 'work.things has no model'],
    ['DROP TABLE platform.rate_limits', 'model RateLimit has no table'],
    ['ALTER TABLE identity.orgs ALTER retention_days TYPE bigint', 'Org.retentionDays is Int, not BigInt'],
    ['ALTER TABLE identity.orgs ALTER stop_reason SET NOT NULL', 'Org.stopReason is not required'],
    ['ALTER TABLE identity.orgs ALTER name DROP NOT NULL', 'Org.name is required'],
    [
      "ALTER TABLE identity.orgs ALTER time_zone SET DEFAULT 'Asia/Tokyo'",
      "Org.timeZone has the default 'UTC'::text, not 'Asia/Tokyo'::text",
    ],
    [
      `ALTER TABLE identity.memberships DROP CONSTRAINT memberships_pkey CASCADE;
       ALTER TABLE identity.memberships ADD PRIMARY KEY (user_id, org_id)`,
      'Membership has the key (org_id, user_id), not (user_id, org_id)',
    ],
    ['ALTER TABLE identity.orgs DROP CONSTRAINT orgs_slug_key', 'Org says (slug) is unique'],
    [
      'ALTER TABLE identity.memberships DROP CONSTRAINT memberships_invited_by_fkey',
      'Membership.invitedBy has no foreign key (invited_by) to identity.users (id)',
    ],
    [
      'GRANT SELECT (password_hash) ON identity.users TO moothall_app',
      'UNREADABLE says that identity.users.password_hash may not be read',
    ],
    [
      'REVOKE SELECT ON platform.instance FROM moothall_app',
      'platform.instance.audit_era may not be read, which UNREADABLE lacks',
    ],
  ])('after %s', async (statement, fault) => {
    expect(await compareAfter(statement)).toContain(fault)
  })

  it('at an enum, which would break every filter on its column', async () => {
    const withEnum = structuredClone(model)
    withEnum.enums.push({ name: 'OrgStatus' })
    const status = withEnum.models.find(({ name }) => name === 'Org')!.fields.find(({ name }) => name === 'status')!
    Object.assign(status, { kind: 'enum', type: 'OrgStatus' })

    const faults = await compareCatalog(owner, withEnum)

    expect(faults).toContain('enum OrgStatus: enums break filters on text columns')
    expect(faults).toContain('Org.status is an enum')
  })

  it('at a column that the client would write by itself', async () => {
    const touching = structuredClone(model)
    const updatedAt = touching.models.flatMap(({ fields }) => fields).find(({ name }) => name === 'updatedAt')!
    updatedAt.isUpdatedAt = true

    expect((await compareCatalog(owner, touching)).join()).toContain('is written by the client')
  })
})
