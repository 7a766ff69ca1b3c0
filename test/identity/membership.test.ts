import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../../src/db/sql.ts'
import { fromDatabase } from '../../src/graphql/database-errors.ts'
import { userWasErased } from '../../src/identity/hooks.ts'
import {
  onMemberRoleChanged,
  onMembershipRevoked,
  onUserErased,
  type Role,
  revokeMembership,
  updateMembership,
} from '../../src/identity/index.ts'
import type { Actor } from '../support/actor.ts'
import type { World } from '../support/world.ts'
import { asMutation, callerFor, factsAbout, startIdentityApp } from './identity-app.ts'

let world: World
/** What the hooks of this file heard and did. */
const heard: unknown[] = []
let failing = false

beforeAll(async () => {
  world = await startIdentityApp()
  onMemberRoleChanged(async ({ userId, from, to }) => void heard.push(['role, first', userId, from, to]))
  onMemberRoleChanged(async ({ userId }) => {
    heard.push(['role, second', userId])
    if (failing) throw new Error('a hook fails')
  })
  onMembershipRevoked(async ({ orgId, userId, by }) => {
    // The hook reads what its change has done, so it runs in the same transaction, after it.
    const [row] = await sql<{ revoked: boolean }>`
      SELECT revoked_at IS NOT NULL AS revoked FROM identity.memberships WHERE org_id = ${orgId} AND user_id = ${userId}`
    heard.push(['revoked', userId, row?.revoked, by.kind])
    if (failing) throw new Error('a hook fails')
  })
})
afterAll(() => world?.close())

const setRole = async (actor: Actor, person: { userId: string }, role: Role) =>
  asMutation(await callerFor(actor), (caller) => updateMembership(caller, { userId: person.userId, role }))
const revoke = async (actor: Actor, person: { userId: string }) =>
  asMutation(await callerFor(actor), (caller) => revokeMembership(caller, { userId: person.userId }))
const roleOf = async ({ userId, orgId }: Actor) => {
  const rows = await world.sql<{ role: Role; revoked: boolean }>(
    'SELECT role, revoked_at IS NOT NULL AS revoked FROM identity.memberships WHERE user_id = $1 AND org_id = $2',
    [userId, orgId],
  )
  return rows[0]?.revoked ? 'revoked' : rows[0]?.role
}
/** What identity itself recorded about a person; bodies above add theirs by hooks. */
const memberFacts = async ({ userId }: Actor) =>
  (await factsAbout(world, userId)).filter(({ type }) => type.startsWith('member.'))
const outcome = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    (error: unknown) => {
      const { code } = (fromDatabase(error) ?? error) as { code?: string }
      if (!code) throw error
      return code
    },
  )

describe('changing a role', () => {
  const people = ['owner', 'admin', 'member', 'viewer'] as const

  it('ID-6, 37 is for admins up to admin, and what is or becomes an owner’s for owners', async () => {
    const allowed: string[] = []
    for (const by of people) {
      for (const from of people) {
        for (const to of people.filter((role) => role !== from)) {
          const [actor, person] = [await world.member({ role: by }), await world.member({ role: from })]
          const result = await outcome(setRole(actor, person, to))
          if (result === 'done') allowed.push(`${by}: ${from} to ${to}`)
          else expect(result).toBe('FORBIDDEN')
          expect(await roleOf(person)).toBe(result === 'done' ? to : from)
        }
      }
    }
    const byOwner = people.flatMap((from) => people.filter((to) => to !== from).map((to) => `owner: ${from} to ${to}`))
    const byAdmin = byOwner
      .filter((line) => !line.slice(6).includes('owner'))
      .map((line) => line.replace('owner:', 'admin:'))
    expect(allowed.sort()).toEqual([...byOwner, ...byAdmin].sort())
  })

  it('ID-37 records from and to, once, and not when nothing changes', async () => {
    const person = await world.member()
    await setRole(world.owner, person, 'admin')
    await setRole(world.owner, person, 'admin')
    expect(await memberFacts(person)).toMatchObject([
      { type: 'member.role_changed', actorUserId: world.owner.userId, payload: { from: 'member', to: 'admin' } },
    ])
    expect(await person.run('{ viewer { standing } }')).toEqual({ viewer: { standing: 'ADMIN' } })
  })

  it('ID-8 finds nobody who is no member: foreign people, anonymous people, those who left', async () => {
    const left = await world.member()
    await revoke(world.owner, left)
    for (const person of [await world.otherOrg(), await world.anonymous(), left]) {
      expect(await outcome(setRole(world.owner, person, 'viewer'))).toBe('NOT_FOUND')
    }
    expect(await outcome(revoke(world.owner, await world.otherOrg()))).toBe('NOT_FOUND')
  })
})

describe('ending a membership', () => {
  it('ID-38 ends the sessions that are active in the org, and no others', async () => {
    const person = await world.member()
    const { orgId } = await world.otherOrg()
    await world.sql(
      `INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at) VALUES ($1, $2, 'member', 'visitor', now())`,
      [orgId, person.userId],
    )
    await world.sql(
      `INSERT INTO identity.sessions (org_id, user_id, token_hash, method) VALUES ($1, $2, sha256('elsewhere'), 'password')`,
      [orgId, person.userId],
    )
    await revoke(world.owner, person)

    expect(await roleOf(person)).toBe('revoked')
    expect((await person.send('{ viewer { standing } }')).errors).toMatchObject([
      { extensions: { code: 'UNAUTHENTICATED' } },
    ])
    expect(
      await world.sql('SELECT org_id, revoke_reason FROM identity.sessions WHERE user_id = $1 ORDER BY revoke_reason', [
        person.userId,
      ]),
    ).toEqual([
      { org_id: world.org.id, revoke_reason: 'role' },
      { org_id: orgId, revoke_reason: null },
    ])
    expect(await memberFacts(person)).toMatchObject([
      { type: 'member.revoked', actorUserId: world.owner.userId, payload: { role: 'member' } },
    ])
    expect(await factsAbout(world, person.sessionId)).toMatchObject([
      { type: 'session.revoked', payload: { userId: person.userId, reason: 'role' } },
    ])
  })

  it('ID-38 is idempotent', async () => {
    const person = await world.member()
    await revoke(world.owner, person)
    await revoke(world.owner, person)
    expect(await memberFacts(person)).toHaveLength(1)
  })

  it('ID-6, 37 is for admins, an owner’s for owners', async () => {
    const [admin, member, owner] = [
      await world.member({ role: 'admin' }),
      await world.member(),
      await world.member({ role: 'owner' }),
    ]
    expect(await outcome(revoke(member, admin))).toBe('FORBIDDEN')
    expect(await outcome(revoke(await world.viewer(), member))).toBe('FORBIDDEN')
    expect(await outcome(revoke(admin, owner))).toBe('FORBIDDEN')
    expect(await outcome(revoke(admin, member))).toBe('done')
    expect(await outcome(revoke(world.owner, owner))).toBe('done')
  })
})

describe('the last owner', () => {
  it('ID-39 can be neither demoted nor revoked, by themself or another', async () => {
    const owner = await world.otherOrg()
    expect(await outcome(setRole(owner, owner, 'admin'))).toBe('LAST_OWNER')
    expect(await outcome(revoke(owner, owner))).toBe('LAST_OWNER')
    expect(await roleOf(owner)).toBe('owner')
    expect(await factsAbout(world, owner.userId)).toEqual([])
  })

  it('ID-39 is the last when the others are disabled, invited or revoked', async () => {
    const owner = await world.otherOrg()
    for (const change of [
      `UPDATE identity.users SET status = 'disabled' WHERE id = $1`,
      'UPDATE identity.memberships SET joined_at = NULL WHERE user_id = $1',
      'UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1',
    ]) {
      const other = await anotherOwner(owner)
      await world.sql(change, [other.userId])
    }
    expect(await outcome(setRole(owner, owner, 'member'))).toBe('LAST_OWNER')
    await anotherOwner(owner)
    expect(await outcome(setRole(owner, owner, 'member'))).toBe('done')
  })

  it('ID-39 stays when two owners demote each other, 200 times: one succeeds, one is told', async () => {
    const first = await world.otherOrg()
    const second = await anotherOwner(first)
    const [callerA, callerB] = [await callerFor(first), await callerFor(second)]
    for (let round = 0; round < 200; round++) {
      const outcomes = await Promise.all([
        outcome(asMutation(callerA, (caller) => updateMembership(caller, { userId: second.userId, role: 'member' }))),
        outcome(asMutation(callerB, (caller) => updateMembership(caller, { userId: first.userId, role: 'member' }))),
      ])
      expect(outcomes.sort()).toEqual(['LAST_OWNER', 'done'])
      expect([await roleOf(first), await roleOf(second)].sort()).toEqual(['member', 'owner'])
      await world.sql(`UPDATE identity.memberships SET role = 'owner' WHERE org_id = $1`, [first.orgId])
    }
  })

  /** Another person who owns the same org. */
  async function anotherOwner({ orgId }: Actor): Promise<Actor> {
    const person = await world.member()
    await world.sql(
      `INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at) VALUES ($1, $2, 'owner', $3, now())`,
      [orgId, person.userId, `o-${person.userId.slice(-12)}`],
    )
    await world.sql('UPDATE identity.sessions SET org_id = $1 WHERE id = $2', [orgId, person.sessionId])
    return Object.assign(person, { orgId })
  }
})

describe('hooks of the bodies above', () => {
  it('ID-41 run in order of registration, inside the change', async () => {
    const person = await world.member()
    heard.length = 0
    await setRole(world.owner, person, 'viewer')
    await revoke(world.owner, person)
    expect(heard).toEqual([
      ['role, first', person.userId, 'member', 'viewer'],
      ['role, second', person.userId],
      ['revoked', person.userId, true, 'session'],
    ])
  })

  it('ID-41 are not run when nothing changes', async () => {
    const person = await world.member()
    await revoke(world.owner, person)
    heard.length = 0
    await revoke(world.owner, person)
    await setRole(world.owner, world.owner, 'owner')
    expect(heard).toEqual([])
  })

  it('ID-41 roll everything back when one fails', async () => {
    const person = await world.member()
    failing = true
    await expect(setRole(world.owner, person, 'viewer')).rejects.toThrow('a hook fails')
    await expect(revoke(world.owner, person)).rejects.toThrow('a hook fails')
    failing = false
    expect(await roleOf(person)).toBe('member')
    expect(await person.run('{ viewer { standing } }')).toEqual({ viewer: { standing: 'MEMBER' } })
    expect(await memberFacts(person)).toEqual([])
  })

  it('ID-41, 65 carry an erased person the same way', async () => {
    const person = await world.member()
    const calls: unknown[] = []
    onUserErased(async (erased) => void calls.push(erased))
    await asMutation(await callerFor(person), async (by) => {
      const erased = { orgId: world.org.id, userId: person.userId, by }
      await userWasErased(erased)
      expect(calls).toEqual([erased])
    })
  })
})
