import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import { digestOf } from './digest.ts'
import { endsSessions, MUTATION_PLAYS } from './mutation-plays.ts'
import { MUTATIONS, perform } from './perform.ts'
import { Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await Stage.open(await startApp({ MOOTHALL_ORG_CREATE: 'registered' }))
})
afterAll(() => stage?.world.close())

it('PLAT-11 every mutation of the schema is called here, and none that is gone', () => {
  expect(Object.keys(MUTATION_PLAYS).toSorted()).toEqual(MUTATIONS.toSorted())
})

it.each(MUTATIONS)(
  'PLAT-11, PLAT-13, ROOM-4 %s records its change once, and nothing when nothing changes',
  async (name) => {
    const { by, prepare, input, facts, again, refused } = MUTATION_PLAYS[name]!
    const play = await stage.play(await actorsOf(name, by))
    await prepare?.(stage.world, play)
    const client = by === 'nobody' ? stage.world.app.client() : play[by].client

    if (refused) {
      const before = await digestOf(stage.world)
      const expected = { code: refused.code, facts: refused.facts ?? [] }
      expect(await factsOf(() => perform(client, name, refused.input(play)))).toEqual(expected)
      if (!refused.facts) expect(await digestOf(stage.world)).toEqual(before)
    }

    const given = input?.(play)
    expect(await factsOf(() => perform(client, name, given))).toEqual({ code: 'ok', facts })

    const second = await factsOf(() => perform(client, name, given))
    if (again === 'nothing') expect(second).toEqual({ code: 'ok', facts: [] })
    else expect(second).toEqual({ code: 'ok', facts: [], ...again })
  },
)

/** Whoever ends sessions is somebody whom nobody else needs afterwards. */
async function actorsOf(name: string, by: string) {
  if (endsSessions(name)) return { others: { member: await stage.world.member({ space: null }) } }
  return by === 'nobody' ? {} : { actor: stage.cast[by as 'member'] }
}

/** What a call answers, and the types of the events that it adds, in whatever org. */
async function factsOf(call: () => Promise<string>): Promise<{ code: string; facts: string[] }> {
  const known = await stage.world.sql<{ id: string }>('SELECT id FROM platform.audit_events')
  const code = await call()
  const added = await stage.world.sql<{ event_type: string }>(
    // An org that a play purges is ended behind our back.
    `SELECT event_type FROM platform.audit_events
     WHERE NOT id = ANY ($1) AND event_type <> 'org.purged' ORDER BY created_at, id`,
    [known.map(({ id }) => id)],
  )
  return { code, facts: added.map(({ event_type }) => event_type) }
}
