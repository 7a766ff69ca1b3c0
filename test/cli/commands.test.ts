import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { serverEnv } from '../support/app.ts'
import { type AppProcess, startAppProcess } from '../support/app-process.ts'
import { moothall, type Ran } from '../support/command.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/database.ts'
import { SIGN_IN } from '../support/documents.ts'

// Each command is a process that loads the product anew.
vi.setConfig({ testTimeout: 120_000 })

let app: AppProcess
let env: Record<string, string>
beforeAll(async () => {
  app = await startAppProcess()
  env = serverEnv(app.database)
})
afterAll(() => app.close())

const object = ({ stdout }: Ran) => JSON.parse(stdout)
const signIn = (email: string, password: string) =>
  app.client().run(SIGN_IN, { input: { email, password, delivery: 'BEARER' } })

describe('the command line', () => {
  it('PLAT-80 lists its commands, and exits with 2 on what it does not know', async () => {
    const [help, unknown, option, missing] = await Promise.all([
      moothall([]),
      moothall(['toString']),
      moothall(['doctor', '--force'], env),
      moothall(['org', 'create', '--slug', 'acme'], env),
    ])

    expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('moothall org create --slug SLUG') })
    expect(unknown).toMatchObject({ code: 2, stdout: '' })
    expect(option).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('Usage: moothall doctor') })
    expect(missing).toMatchObject({ code: 2, stdout: '', stderr: '--name is missing.\n' })
  })

  it('PLAT-76 refuses an unknown or unreadable variable by its name, never its value', async () => {
    const [unknown, unreadable] = await Promise.all([
      moothall(['doctor'], { ...env, MOOTHALL_SECRET_SAUCE: 'canary' }),
      moothall(['doctor', '--json'], { ...env, MOOTHALL_RATE_COST: 'canary' }),
    ])

    expect(unknown).toEqual({ code: 1, stdout: '', stderr: 'Unknown variable MOOTHALL_SECRET_SAUCE.\n' })
    expect(unreadable).toEqual({
      code: 1,
      stdout: '',
      stderr: '{"error":{"code":"REFUSED","message":"Variable MOOTHALL_RATE_COST cannot be read."}}\n',
    })
  })

  it.each(['MOOTHALL_KEY_PEPPERS', 'MOOTHALL_ENCRYPTION_KEYS'])(
    'PLAT-78 refuses to start in production without %s',
    async (name) => {
      const { [name]: _, ...bare } = env
      const refused = await moothall(['start'], { ...bare, NODE_ENV: 'production' })

      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`${name} must be set`) })
    },
  )
})

describe('org create and user create', () => {
  it('ID-57 makes an org with an owner, who can sign in with the password shown', async () => {
    const made = await moothall(
      ['org', 'create', '--slug', 'acme', '--name', 'Acme', '--owner-email', 'ann@example.org', '--json'],
      env,
    )

    expect(made.code).toBe(0)
    expect(made.stderr).toBe('')
    const { org, owner } = object(made)
    expect(org).toEqual({ id: expect.stringMatching(/^org_/), slug: 'acme' })
    expect(await signIn('ann@example.org', owner.password)).toMatchObject({
      sessionCreateWithPassword: {
        __typename: 'SessionCreateWithPasswordPayload',
        session: { user: { id: owner.id, email: 'ann@example.org' } },
      },
    })
  })

  it('ID-57 refuses a slug that is taken, and says what is wrong with an input', async () => {
    const create = (slug: string) =>
      moothall(['org', 'create', '--slug', slug, '--name', 'X', '--owner-email', 'bob@example.org'], env)
    await create('taken')

    expect(await create('taken')).toEqual({ code: 1, stdout: '', stderr: 'The slug is taken.\n' })
    expect(await create('Not A Slug')).toMatchObject({ code: 1, stderr: expect.stringMatching(/^slug must have/) })
  })

  it('PLAT-80 makes somebody a member; who is known already keeps their password', async () => {
    const create = (org: string) =>
      moothall(
        ['user', 'create', '--org', org, '--email', 'eve@example.org', '--role', 'member', '--name', 'Eve', '--json'],
        env,
      )
    const createOrg = (slug: string) =>
      moothall(['org', 'create', '--slug', slug, '--name', slug, '--owner-email', `${slug}@example.org`], env)
    await Promise.all(['first', 'second'].map(createOrg))

    const first = object(await create('first'))
    const second = object(await create('second'))

    expect(second.user.id).toBe(first.user.id)
    expect(second.user).not.toHaveProperty('password')
    expect(await signIn('eve@example.org', first.user.password)).toMatchObject({
      sessionCreateWithPassword: { __typename: 'SessionCreateWithPasswordPayload' },
    })
    expect(await create('nowhere')).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('NOT_FOUND') })
  })
})

describe('migrate and doctor', () => {
  let empty: TestDatabase
  beforeAll(async () => {
    empty = await createEmptyDatabase()
  })
  afterAll(() => empty.drop())

  it('PLAT-56 tells what is pending and changes nothing, then applies it', async () => {
    const files = (await readdir(new URL('../../prisma/migrations', import.meta.url)))
      .filter((name) => /^\d/.test(name))
      .sort()
    const status = () => moothall(['migrate', '--status', '--json'], serverEnv(empty))

    expect(object(await status())).toEqual({ applied: [], pending: files })
    expect(object(await status())).toEqual({ applied: [], pending: files })
    expect(object(await moothall(['migrate', '--json'], serverEnv(empty)))).toEqual({ applied: files })
    expect(object(await status())).toEqual({ applied: files, pending: [] })
  })

  it('PLAT-57 does not start with pending migrations that it may not apply', async () => {
    const bare = await createEmptyDatabase()
    const [off, without] = await Promise.all([
      moothall(['start'], { ...serverEnv(bare), MOOTHALL_AUTO_MIGRATE: 'false' }),
      moothall(['start'], { ...serverEnv(bare), DATABASE_MIGRATE_URL: '' }),
    ])
    await bare.drop()

    expect(off).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/pending \(0001_ground.*run `moothall migrate`/),
    })
    expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('set DATABASE_MIGRATE_URL') })
  })

  it('PLAT-2 doctor and start find a role that is past row security', async () => {
    const asOwner = { ...env, DATABASE_URL: app.database.ownerUrl }
    const [fine, wrong, start] = await Promise.all([
      moothall(['doctor', '--json'], env),
      moothall(['doctor', '--json'], asOwner),
      moothall(['start'], asOwner),
    ])

    expect(fine.code).toBe(0)
    expect(object(fine).findings).toContainEqual({ check: 'isolation', ok: true, detail: 'no faults' })
    expect(wrong.code).toBe(1)
    expect(object(wrong).findings).toContainEqual({
      check: 'isolation',
      ok: false,
      detail: expect.stringContaining('connected as moothall_owner, not as moothall_app'),
    })
    expect(start).toMatchObject({ code: 1, stderr: expect.stringContaining('would not keep tenants apart') })
  })

  it('PLAT-57 prints the SQL that makes the roles, with verifiers in place of their passwords', async () => {
    const bare = await createEmptyDatabase()
    const url = (address: string, password: string) => Object.assign(new URL(address), { password }).href
    const printed = await moothall(['migrate', '--roles'], {
      ...env,
      DATABASE_URL: url(bare.appUrl, 'canary-app'),
      DATABASE_MIGRATE_URL: url(bare.ownerUrl, 'canary-owner'),
    })
    await bare.drop()

    expect(printed.code).toBe(0)
    expect(printed.stdout).toContain('CREATE ROLE moothall_app LOGIN')
    expect(printed.stdout).not.toContain('canary')
  })

  it('doctor and migrate --status make no database where there is none', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'moothall-cli-'))
    const runs = await Promise.all(
      [['doctor'], ['migrate', '--status']].map((args) => moothall(args, { MOOTHALL_DATA_DIR: dataDir })),
    )

    for (const run of runs) expect(run).toMatchObject({ code: 1, stderr: expect.stringContaining('no database') })
    expect(await readdir(dataDir)).toEqual([])
    await rm(dataDir, { recursive: true })
  })
})

it('PLAT-57 the printed SQL is valid', async () => {
  // Run in a transaction that is undone: the roles are the whole cluster's.
  const printed = await moothall(['migrate', '--roles', '--json'], env)
  const client = new pg.Client({ connectionString: app.database.superuserUrl })
  await client.connect()
  await client.query(`BEGIN; ${object(printed).sql} ROLLBACK`)
  await client.end()
})
