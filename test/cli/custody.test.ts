import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type App, serverEnv, startApp } from '../support/app.ts'
import { moothall } from '../support/command.ts'
import { createWorld, type World } from '../support/world.ts'

// Each command is a process that loads the product anew.
vi.setConfig({ testTimeout: 120_000 })

let app: App
let world: World
let env: Record<string, string>
beforeAll(async () => {
  app = await startApp()
  world = await createWorld(app)
  env = serverEnv(app.database)
})
afterAll(() => app.close())

const statusOf = async (userId: string) =>
  (await world.sql<{ status: string }>('SELECT status FROM identity.users WHERE id = $1', [userId]))[0]?.status

describe('people', () => {
  it('PLAT-80 disables, enables and erases somebody by id or email', async () => {
    const person = await world.member()
    await world.sql(`UPDATE identity.users SET email = 'ann@example.org' WHERE id = $1`, [person.userId])

    expect(await moothall(['user', 'disable', 'Ann@example.org'], env)).toMatchObject({ code: 0, stderr: '' })
    expect(await statusOf(person.userId)).toBe('disabled')
    expect(await moothall(['user', 'enable', person.id, '--json'], env)).toMatchObject({
      code: 0,
      stdout: `${JSON.stringify({ user: { id: person.id }, changed: true })}\n`,
    })
    expect(await statusOf(person.userId)).toBe('active')
    expect(await moothall(['user', 'erase', person.id], env)).toMatchObject({ code: 0 })
    expect(await statusOf(person.userId)).toBe('erased')
    // What bodies above give up with a person, they gave up.
    expect(await world.sql('SELECT FROM rooms.space_members WHERE user_id = $1', [person.userId])).toEqual([])
  })

  it('ID-67 deletes a person whom nothing names, else says what does and exits with 1', async () => {
    const [free, host] = [await world.member(), await world.member()]
    await world.pokerRoom({ host })

    expect(await moothall(['user', 'delete', free.id], env)).toMatchObject({ code: 0 })
    expect(await statusOf(free.userId)).toBeUndefined()
    expect(await moothall(['user', 'delete', host.id], env)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('facilitator: 1 in rooms.rooms (facilitator_id)'),
    })
    expect(await statusOf(host.userId)).toBe('active')
  })

  it('PLAT-80 refuses nobody’s id with 1 and a missing or second one with 2', async () => {
    const [unknown, missing, second] = await Promise.all([
      moothall(['user', 'disable', 'nobody@example.org'], env),
      moothall(['user', 'disable'], env),
      moothall(['user', 'disable', 'a@example.org', 'b@example.org'], env),
    ])
    expect(unknown).toMatchObject({ code: 1, stderr: 'There is no such person.\n' })
    expect(missing).toMatchObject({ code: 2 })
    expect(second).toMatchObject({ code: 2 })
  })

  it('ID-39 refuses the last owner of an org, and names it', async () => {
    const alone = await createWorld(app)
    const refused = await moothall(['user', 'erase', alone.owner.id, '--json'], env)
    expect(refused.code).toBe(1)
    expect(JSON.parse(refused.stderr).error).toEqual({
      code: 'LAST_OWNER',
      message: expect.stringContaining(alone.org.slug),
    })
  })
})

describe('org purge', () => {
  it('ID-63, PLAT-80 purges an archived org while the server runs, and waits for its end', async () => {
    const doomed = await createWorld(app)
    await doomed.pokerRoom({ voters: 2 })
    const args = ['org', 'purge', '--slug', doomed.org.slug, '--confirm', doomed.org.slug]

    expect(await moothall(args, env)).toMatchObject({ code: 1, stderr: 'Archive the org first.\n' })
    await doomed.sql(`UPDATE identity.orgs SET status = 'archived', archived_at = now() WHERE id = $1`, [doomed.org.id])
    expect(await moothall([...args.slice(0, -1), 'another'], env)).toMatchObject({ code: 2 })
    expect(await moothall(args, env)).toMatchObject({ code: 0, stdout: `Purged ${doomed.org.slug}.\n` })

    expect(await doomed.sql('SELECT status FROM identity.orgs WHERE id = $1', [doomed.org.id])).toEqual([
      { status: 'purged' },
    ])
    expect(await doomed.sql('SELECT FROM rooms.rooms WHERE org_id = $1', [doomed.org.id])).toEqual([])
    expect(await moothall(args, env)).toMatchObject({ code: 1, stderr: 'There is no such org.\n' })
  })
})
