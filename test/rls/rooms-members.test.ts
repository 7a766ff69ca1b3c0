import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Person, RoomsWorld, refusal } from './rooms-world.ts'

let world: RoomsWorld
let org: string
let space: string
beforeAll(async () => {
  world = await RoomsWorld.open()
  org = await world.org()
})
beforeEach(async () => {
  space = await world.space(org)
})
afterAll(() => world.close())

const owner = () => world.member(org, space, { role: 'owner' })

const DEMOTE = `UPDATE rooms.space_members SET role = 'member' WHERE space_id = $1 AND user_id = $2`
const REMOVE = 'DELETE FROM rooms.space_members WHERE space_id = $1 AND user_id = $2'
const demote = ({ user }: Person) => world.as({ org }, DEMOTE, [space, user])
const remove = ({ user }: Person) => world.as({ org }, REMOVE, [space, user])

describe('the last owner of a space', () => {
  it('ROOM-17 is neither demoted nor removed (MH007)', async () => {
    const last = await owner()
    await world.member(org, space)

    expect(await refusal(demote(last))).toBe('MH007')
    expect(await refusal(remove(last))).toBe('MH007')
  })

  it('ROOM-17 is not the last while another owner has standing', async () => {
    const [one, two] = [await owner(), await owner()]
    await demote(one)
    expect(await refusal(demote(two))).toBe('MH007')
  })

  it('ROOM-17 is the last when the other owner has lost standing (MH007)', async () => {
    const [last, gone] = [await owner(), await owner()]
    await world.owner('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [gone.user])
    expect(await refusal(demote(last))).toBe('MH007')

    const disabled = await owner()
    await world.owner(`UPDATE identity.users SET status = 'disabled' WHERE id = $1`, [disabled.user])
    expect(await refusal(remove(last))).toBe('MH007')
  })

  it('ROOM-17 is looked for at commit, so owners change places in one transaction', async () => {
    const last = await owner()
    const heir = await world.member(org, space)
    const step = await world.begin({ org })
    await step.query(DEMOTE, [space, last.user])
    await step.query(`UPDATE rooms.space_members SET role = 'owner' WHERE space_id = $1 AND user_id = $2`, [
      space,
      heir.user,
    ])
    await step.commit()
  })

  it('ROOM-17 remains when two owners demote each other at once: one succeeds, one is refused', async () => {
    const [one, two] = [await owner(), await owner()]
    const [first, second] = [await world.begin(one), await world.begin(two)]
    await first.query(DEMOTE, [space, two.user])
    await second.query(DEMOTE, [space, one.user])

    // Both look at what COMMIT would look at, while neither has committed: the second must not count before the first ends.
    await first.query('SET CONSTRAINTS ALL IMMEDIATE')
    const look = refusal(second.query('SET CONSTRAINTS ALL IMMEDIATE'))
    await world.untilBlocked()
    await first.commit()
    expect(await look).toBe('MH007')
    await second.rollback()

    const owners = await world.owner(`SELECT user_id FROM rooms.space_members WHERE space_id = $1 AND role = 'owner'`, [
      space,
    ])
    expect(owners).toEqual([{ user_id: one.user }])
  })

  it('ROOM-18 goes with their standing, which leaves the space abandoned', async () => {
    const last = await owner()
    const step = await world.begin({ org })
    await step.query('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [last.user])
    await step.query(REMOVE, [space, last.user])
    await step.commit()

    expect(await world.owner('SELECT FROM rooms.space_members WHERE space_id = $1', [space])).toHaveLength(0)
  })

  it('ROOM-20 goes with the space', async () => {
    await owner()
    await world.as({ org }, 'DELETE FROM rooms.spaces WHERE id = $1', [space])
    expect(await world.owner('SELECT FROM rooms.space_members WHERE space_id = $1', [space])).toHaveLength(0)
  })

  it('ID-63 goes in the purge of the org, whose members keep standing until the end', async () => {
    const doomed = await world.org()
    const home = await world.space(doomed)
    const last = await world.member(doomed, home, { role: 'owner' })
    await world.owner(`UPDATE identity.orgs SET status = 'archived', archived_at = now() WHERE id = $1`, [doomed])
    expect(await refusal(world.owner(REMOVE, [home, last.user]))).toBe('MH007')

    await world.owner(`UPDATE identity.orgs SET status = 'purging' WHERE id = $1`, [doomed])
    expect(await refusal(world.owner(REMOVE, [home, last.user]))).toBe('none')
  })
})

describe('a member of a space', () => {
  const join = ({ user }: Person) =>
    world.as({ org }, 'INSERT INTO rooms.space_members (org_id, space_id, user_id) VALUES ($1, $2, $3)', [
      org,
      space,
      user,
    ])

  it('ROOM-16 is a registered or anonymous person or an agent of the org', async () => {
    await join(await world.person(org))
    await join(await world.person(org, { role: 'viewer' }))
    await join(await world.person(org, { account: 'anonymous' }))
    await join(await world.person(org, { account: 'agent' }))
  })

  it('ID-8 is nobody of another org, nobody whose membership ended, and no guest (MH009)', async () => {
    const elsewhere = await world.org()
    expect(await refusal(join(await world.person(elsewhere)))).toBe('MH009')
    expect(await refusal(join(await world.person(elsewhere, { account: 'agent' })))).toBe('MH009')

    const former = await world.person(org)
    await world.owner('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [former.user])
    expect(await refusal(join(former))).toBe('MH009')

    const guest = await world.guest(org, await world.room(org, space))
    expect(await refusal(join(guest))).toBe('MH009')
  })

  it('ROOM-14 is a member once', async () => {
    const person = await world.member(org, space)
    expect(await refusal(join(person))).toBe('23505')
  })

  it('ROOM-16 keeps space, person and time of joining (42501)', async () => {
    await world.member(org, space)
    for (const column of ['space_id', 'user_id', 'joined_at', 'org_id']) {
      expect(await refusal(world.as({ org }, `UPDATE rooms.space_members SET ${column} = ${column}`))).toBe('42501')
    }
    await world.as(
      { org },
      'UPDATE rooms.space_members SET spectator = true, last_seen_at = now() WHERE space_id = $1',
      [space],
    )
  })
})

describe('a space', () => {
  const make = (column: string, value: string) =>
    refusal(
      world.as(
        { org },
        `INSERT INTO rooms.spaces (org_id, slug, name, passcode)
         SELECT $1, coalesce(v ->> 'slug', 's-' || substr(md5(random()::text), 1, 12)), coalesce(v ->> 'name', 'N'),
           coalesce(v ->> 'passcode', '')
         FROM (SELECT jsonb_build_object($2::text, $3::text) AS v) AS given`,
        [org, column, value],
      ),
    )

  it('ROOM-10 has a slug that is its own in the org (23505), and free in every other', async () => {
    expect(await make('slug', 'team-one')).toBe('none')
    expect(await make('slug', 'team-one')).toBe('23505')
    const other = await world.org()
    await world.as({ org: other }, `INSERT INTO rooms.spaces (org_id, slug, name) VALUES ($1, 'team-one', 'N')`, [
      other,
    ])
  })

  it.each([
    ['slug', ''],
    ['slug', 'Team'],
    ['slug', '-team'],
    ['slug', 'team--one'],
    ['slug', 't'.repeat(65)],
    ['name', ''],
    ['name', 'n'.repeat(65)],
    ['passcode', 'p'.repeat(13)],
  ])('ROOM-10 is refused with %s "%s" (23514)', async (column, value) => {
    expect(await make(column, value)).toBe('23514')
  })

  it('ROOM-57 counts characters, not bytes', async () => {
    expect(await make('name', 'ä'.repeat(64))).toBe('none')
    expect(await make('passcode', '🔑'.repeat(12))).toBe('none')
  })
})
