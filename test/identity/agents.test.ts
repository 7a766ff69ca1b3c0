import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operation } from '../../src/db/operation.ts'
import type { AgentCaller } from '../../src/graphql/caller.ts'
import { invalidInput } from '../../src/graphql/errors.ts'
import { encodeId } from '../../src/graphql/ids.ts'
import { agentReach, checkAgentBudgets, createUser, mayEditGlobalWiki, withinReach } from '../../src/identity/index.ts'
import { newId } from '../../src/lib/type-id.ts'
import type { Actor, Asker } from '../support/actor.ts'
import { knownProject } from '../support/known-projects.ts'
import { uuidOf, type World } from '../support/world.ts'
import { factsAbout, startIdentityApp } from './identity-app.ts'

let world: World
beforeAll(async () => {
  world = await startIdentityApp()
})
afterAll(() => world?.close())

let names = 0
const newName = () => `agent-${++names}`
const create = (input: object, by: Pick<Asker, 'mutate'> = world.owner) =>
  by.mutate('agentCreate', { name: newName(), ...input }, 'agent { id name status mode user { id } }')
const change = (name: string, agent: Actor, input: object = {}, by: Pick<Asker, 'mutate'> = world.owner) =>
  by.mutate(name, { id: idOf(agent), ...input }, 'agent { status statusReason mode projectScope projectIds }')
const idOf = ({ userId }: Pick<Actor, 'userId'>) => encodeId('Agent', userId)
const typesAbout = async (id: string) => (await factsAbout(world, id)).map(({ type }) => type)

describe('agentCreate', () => {
  it('ID-42 makes a user and an agent that may do nothing yet but read, with a lasting fact', async () => {
    const project = knownProject(world.owner)
    const { agent } = await create({
      projectIds: [project.id, project.id],
      labels: [
        { name: 'b', value: 'B' },
        { name: 'a', value: 'A' },
      ],
    })
    expect(agent).toMatchObject({ status: 'ACTIVE', mode: 'READ' })
    const id = uuidOf(agent.id)
    expect(agent.user.id).toBe(encodeId('User', id))

    const shown = await world.owner.run(
      `query ($id: ID!, $name: String!) {
        agent(id: $id) { id kind projectScope projectIds labels { name value } canEditGlobalWiki rateLimitPerMinute budgets intentMode
          intentKeys { kid } createdBy { id } user { type account displayName agent { name } } }
        named: agent(name: $name) { id } node(id: $id) { ... on Agent { name } } }`,
      { id: agent.id, name: agent.name },
    )
    expect(shown).toEqual({
      agent: {
        id: agent.id,
        kind: 'AGENT',
        projectScope: 'LISTED',
        projectIds: [project.id],
        labels: [
          { name: 'a', value: 'A' },
          { name: 'b', value: 'B' },
        ],
        canEditGlobalWiki: false,
        rateLimitPerMinute: null,
        budgets: null,
        intentMode: 'OFF',
        intentKeys: [],
        createdBy: { id: world.owner.id },
        user: { type: 'AGENT', account: 'AGENT', displayName: agent.name, agent: { name: agent.name } },
      },
      named: { id: agent.id },
      node: { name: agent.name },
    })
    expect(await factsAbout(world, id)).toMatchObject([
      { type: 'agent.created', payload: { mode: 'read', projectScope: 'listed', projectIds: [project.uuid] } },
    ])
    const [fact] = await world.sql('SELECT category, durable FROM platform.audit_events WHERE target_id = $1', [id])
    expect(fact).toEqual({ category: 'activity', durable: true })
  })

  it('ID-40 of an agent and a member who want one name at once, one gets it and the other another one', async () => {
    for (let round = 0; round < 5; round++) {
      const name = `twin-${round}`
      const email = `${name}@host.example`
      const [made, joined] = await Promise.all([
        create({ name }),
        createUser({ orgSlug: world.org.slug, email, role: 'member' }),
      ])
      const [person] = await world.sql('SELECT username FROM identity.memberships WHERE user_id = $1', [joined.userId])
      expect([made.code ?? made.agent.name, person!['username']]).toEqual(
        made.code ? ['CONFLICT', name] : [name, `${name}-2`],
      )
    }
  })

  it('ID-40 two agents of one name at once are one agent', async () => {
    const name = newName()
    const both = await Promise.all([create({ name }), create({ name })])
    expect(both.map(({ code = 'ok' }) => code).sort()).toEqual(['CONFLICT', 'ok'])
    const [{ users }] = (await world.sql('SELECT count(*)::int AS users FROM identity.users WHERE display_name = $1', [
      name,
    ])) as [{ users: number }]
    expect(users).toBe(1)
  })

  it.each([
    'org',
    'system',
    'console',
    'admin',
    'moothall',
    'all',
    'me',
    'plugin-',
    'plugin-x',
    'a',
    'Abc',
    'a_b',
    '1a',
    '',
  ])('ID-42 takes no name like %j', async (name) => {
    expect(await create({ name })).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['input', 'name'] }] })
  })

  it('ID-42 the 501st agent is refused with the number there may be', async () => {
    const other = await world.otherOrg()
    await world.sql(
      `WITH made AS (
         INSERT INTO identity.users (type, account, home_org_id, display_name, status)
         SELECT 'agent', 'agent', $1, 'Agent', 'active' FROM generate_series(1, 500) RETURNING id)
       SELECT count(*) FROM made`,
      [other.orgId],
    )
    await world.sql(
      `INSERT INTO identity.agents (org_id, id, name)
       SELECT $1, id, 'n' || row_number() OVER () FROM identity.users WHERE home_org_id = $1`,
      [other.orgId],
    )
    const refused = await other.mutate(
      'agentCreate',
      { name: newName() },
      '__typename',
      '... on LimitReachedError { limit }',
    )
    expect(refused).toMatchObject({ code: 'LIMIT_REACHED', limit: 500 })
  })

  it('ID-45 a list beside ALL, or a project of elsewhere, makes nothing', async () => {
    const own = knownProject(world.owner)
    const foreign = knownProject(await world.otherOrg())
    const name = newName()
    expect(await create({ name, projectScope: 'ALL', projectIds: [own.id] })).toMatchObject({ code: 'INVALID_INPUT' })
    for (const id of [foreign.id, encodeId('Project', newId())]) {
      expect(await create({ name, projectIds: [own.id, id] })).toMatchObject({
        code: 'NOT_FOUND',
        path: ['input', 'projectIds', '1'],
      })
    }
    expect(await world.sql('SELECT 1 FROM identity.users WHERE display_name = $1', [name])).toEqual([])
  })
})

describe('the status of an agent', () => {
  it('ID-43 goes there and back, with reasons, and once only', async () => {
    const agent = await world.agent()
    expect(await change('agentSuspend', agent, { reason: 'too loud' })).toMatchObject({
      agent: { status: 'SUSPENDED', statusReason: 'too loud' },
    })
    expect(await change('agentSuspend', agent, { reason: 'again' })).toMatchObject({
      agent: { statusReason: 'too loud' },
    })
    expect(await change('agentResume', agent)).toMatchObject({ agent: { status: 'ACTIVE', statusReason: null } })
    expect(await change('agentStop', agent)).toMatchObject({ agent: { status: 'STOPPED' } })
    expect(await change('agentSuspend', agent)).toMatchObject({ code: 'CONFLICT' })
    expect(await change('agentResume', agent)).toMatchObject({ agent: { status: 'ACTIVE' } })
    expect(await typesAbout(agent.userId)).toEqual([
      'agent.suspended',
      'agent.resumed',
      'agent.stopped',
      'agent.resumed',
    ])
    const [fact] = await world.sql(
      `SELECT reason, payload, durable FROM platform.audit_events WHERE target_id = $1 ORDER BY created_at LIMIT 1`,
      [agent.userId],
    )
    expect(fact).toEqual({ reason: 'too loud', payload: { from: 'active' }, durable: true })
  })

  it('ID-43 of two admins who stop an agent at once one does, and leaves one fact', async () => {
    const agent = await world.agent()
    const admin = await world.member({ role: 'admin' })
    await Promise.all([change('agentStop', agent), change('agentStop', agent, {}, admin)])
    expect(await typesAbout(agent.userId)).toEqual(['agent.stopped'])
  })

  it('ID-6, 7, 43 an admin key suspends, stops and resumes, but not what was stopped', async () => {
    const agent = await world.agent()
    const key = await world.adminKey()
    expect(await change('agentSuspend', agent, {}, key)).toMatchObject({ agent: { status: 'SUSPENDED' } })
    expect(await change('agentResume', agent, {}, key)).toMatchObject({ agent: { status: 'ACTIVE' } })
    expect(await change('agentStop', agent, {}, key)).toMatchObject({ agent: { status: 'STOPPED' } })
    expect(await change('agentResume', agent, {}, key)).toMatchObject({ code: 'FORBIDDEN' })
    expect(await change('agentResume', agent, {}, await world.member({ role: 'admin' }))).toMatchObject({
      agent: { status: 'ACTIVE' },
    })
    const facts = await factsAbout(world, agent.userId)
    expect(facts.map(({ type, actorKind }) => [type, actorKind])).toEqual([
      ['agent.suspended', 'api_key'],
      ['agent.resumed', 'api_key'],
      ['agent.stopped', 'api_key'],
      ['agent.resumed', 'human'],
    ])
  })

  it('ID-3, 43 governs the very next call, and the keys hold again afterwards', async () => {
    const agent = await world.agent()
    const call = async () => (await agent.send('{ viewer { standing } }')).errors?.[0]?.extensions.code ?? 'ok'
    expect(await call()).toBe('ok')
    await change('agentSuspend', agent)
    expect(await call()).toBe('AGENT_SUSPENDED')
    await change('agentStop', agent)
    expect(await call()).toBe('AGENT_STOPPED')
    await change('agentResume', agent)
    expect(await call()).toBe('ok')
  })

  it('ID-43, 69 of the system’s own agent is nobody’s to change', async () => {
    const id = await world.user('agent', world.org.id)
    await world.sql(`INSERT INTO identity.agents (org_id, id, name, kind) VALUES ($1, $2, 'console', 'system')`, [
      world.org.id,
      id,
    ])
    const agent = { id: encodeId('Agent', id) }
    const changes: [string, object][] = [
      ['agentSuspend', {}],
      ['agentStop', {}],
      ['agentResume', {}],
      ['agentUpdate', { mode: 'WRITE' }],
      ['agentSetProjects', { scope: 'ALL' }],
      ['agentAddIntentKey', { publicKey: `ed25519:${Buffer.alloc(32, 0x66).toString('base64url')}` }],
      ['agentRemoveIntentKey', { kid: 'a'.repeat(32) }],
    ]
    for (const [name, input] of changes) {
      expect([name, (await world.owner.mutate(name, { ...agent, ...input })).code]).toEqual([name, 'FORBIDDEN'])
    }
    expect(
      await world.owner.mutate('apiKeyCreate', { agentId: agent.id, name: 'k', scopes: ['GATE_ACT'] }),
    ).toMatchObject({
      code: 'FORBIDDEN',
    })
    expect(await typesAbout(id)).toEqual([])
    const { agents } = await world.owner.run(
      '{ agents(filter: { kind: { eq: SYSTEM } }) { nodes { name } totalCount } }',
    )
    expect(agents).toEqual({ nodes: [{ name: 'console' }], totalCount: 1 })
  })

  it('ID-8 an agent of another org is not there, whatever is asked of it', async () => {
    const other = await world.otherOrg()
    const id = await world.user('agent', other.orgId)
    await world.sql(`INSERT INTO identity.agents (org_id, id, name) VALUES ($1, $2, 'theirs')`, [other.orgId, id])
    const theirs = { id: encodeId('Agent', id) }
    for (const [name, input] of [
      ['agentStop', {}],
      ['agentUpdate', { mode: 'WRITE' }],
      ['agentSetProjects', { scope: 'ALL' }],
      ['agentRemoveIntentKey', { kid: 'a'.repeat(32) }],
    ] as const) {
      expect(await world.owner.mutate(name, { ...theirs, ...input })).toMatchObject({
        code: 'NOT_FOUND',
        path: ['input', 'id'],
      })
    }
    expect(
      await world.owner.run(
        'query ($id: ID!) { agent(id: $id) { id } node(id: $id) { id } named: agent(name: "theirs") { id } }',
        theirs,
      ),
    ).toEqual({ agent: null, node: null, named: null })
    expect((await world.sql('SELECT status, mode FROM identity.agents WHERE id = $1', [id]))[0]).toEqual({
      status: 'active',
      mode: 'read',
    })
  })
})

describe('agentUpdate', () => {
  const update = (agent: Actor, input: object, selection: string) =>
    world.owner.mutate('agentUpdate', { id: idOf(agent), ...input }, `agent { ${selection} }`)

  it('ID-69 changes what is given, clears by null, and records the names of what changed', async () => {
    const agent = await world.agent()
    const all = 'mode canEditGlobalWiki rateLimitPerMinute intentMode labels { name value }'
    expect(await update(agent, { mode: 'READ', rateLimitPerMinute: 5 }, all)).toMatchObject({
      agent: { mode: 'READ', rateLimitPerMinute: 5, canEditGlobalWiki: false },
    })
    const next = {
      rateLimitPerMinute: null,
      canEditGlobalWiki: true,
      intentMode: 'REQUIRED',
      labels: [{ name: 'team', value: 'red' }],
    }
    expect(await update(agent, next, all)).toEqual({
      __typename: 'AgentUpdatePayload',
      agent: { mode: 'READ', ...next },
    })
    await update(agent, next, all)
    await update(agent, {}, all)
    expect((await factsAbout(world, agent.userId)).map(({ payload }) => payload['fields'])).toEqual([
      ['mode', 'rateLimitPerMinute'],
      ['canEditGlobalWiki', 'rateLimitPerMinute', 'labels', 'intentMode'],
    ])
  })

  it('ID-44, 69 a change of mode governs the agent’s next call', async () => {
    const agent = await world.agent()
    const write = async () => (await agent.mutate('spaceSeen', { id: world.home.id })).code ?? 'ok'
    expect(await write()).toBe('ok')
    await update(agent, { mode: 'READ' }, 'id')
    expect(await write()).toBe('FORBIDDEN')
    await update(agent, { mode: 'WRITE' }, 'id')
    expect(await write()).toBe('ok')
  })

  it('ID-69 takes no label twice', async () => {
    const twice = [
      { name: 'a', value: 'x' },
      { name: 'a', value: 'y' },
    ]
    expect(await update(await world.agent(), { labels: twice }, 'id')).toMatchObject({
      code: 'INVALID_INPUT',
      issues: [{ path: ['input', 'labels', '1', 'name'] }],
    })
  })

  it('ID-41, 69 sets no budgets that nobody enforces, and those that the hook lets through', async () => {
    const agent = await world.agent()
    const budgets = (given: unknown) => update(agent, { budgets: given }, 'budgets')
    expect(await budgets([{ calls: 5 }])).toMatchObject({
      code: 'INVALID_INPUT',
      issues: [{ path: ['input', 'budgets'] }],
    })
    expect(await budgets({ calls: 5 })).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await budgets(Array(11).fill(1))).toMatchObject({ code: 'INVALID_INPUT' })

    const asked: unknown[] = []
    checkAgentBudgets(async (given) => {
      asked.push(given)
      if (given.budgets.some((budget) => (budget as { calls: number }).calls < 0))
        throw invalidInput('budgets', 'is too small')
    })
    expect(await budgets([{ calls: 5 }])).toMatchObject({ agent: { budgets: [{ calls: 5 }] } })
    expect(asked).toEqual([{ orgId: world.org.id, budgets: [{ calls: 5 }] }])
    expect(await budgets([{ calls: -1 }])).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await budgets(null)).toMatchObject({ agent: { budgets: null } })
    expect((await factsAbout(world, agent.userId)).map(({ payload }) => payload['fields'])).toEqual([
      ['budgets'],
      ['budgets'],
    ])
  })
})

describe('the projects of an agent', () => {
  const setProjects = (agent: Actor, input: object) => change('agentSetProjects', agent, input)
  /** As the agent's own operation finds it, whatever its key was read with. */
  const reachOf = (agent: Actor & { keyId: string }) => {
    const caller = {
      kind: 'agent',
      orgId: agent.orgId,
      userId: agent.userId,
      projectScope: 'all',
      mode: 'write',
      canEditGlobalWiki: false,
    }
    return operation('read', { orgId: agent.orgId, userId: agent.userId }, () => agentReach(caller as AgentCaller))
  }

  it('ID-45 are exactly those listed; emptying the list leaves none', async () => {
    const agent = await world.agent({ projectScope: 'listed' })
    const [one, two, three] = [knownProject(agent), knownProject(agent), knownProject(agent)]
    expect(await reachOf(agent)).toEqual([])
    await setProjects(agent, { scope: 'LISTED', projectIds: [one.id, two.id] })
    expect(new Set(await reachOf(agent))).toEqual(new Set([one.uuid, two.uuid]))
    await setProjects(agent, { scope: 'LISTED', projectIds: [three.id, two.id] })
    expect(await setProjects(agent, { scope: 'LISTED', projectIds: [] })).toMatchObject({
      agent: { projectScope: 'LISTED', projectIds: [] },
    })
    const reach = await reachOf(agent)
    expect(reach).toEqual([])
    expect(withinReach(reach, { free: false })).toEqual({ projectId: { in: [] } })
    const facts = await factsAbout(world, agent.userId)
    expect(facts.map(({ payload }) => payload)).toEqual([
      { projectScope: 'listed', added: [one.uuid, two.uuid].sort(), removed: [] },
      { projectScope: 'listed', added: [three.uuid], removed: [one.uuid] },
      { projectScope: 'listed', added: [], removed: [two.uuid, three.uuid].sort() },
    ])
  })

  it('ID-45 scope and list change together: ALL takes the list along, and LISTED without one is none', async () => {
    const agent = await world.agent({ projectScope: 'listed' })
    const project = knownProject(agent)
    await setProjects(agent, { scope: 'LISTED', projectIds: [project.id] })
    expect(await setProjects(agent, { scope: 'ALL' })).toMatchObject({ agent: { projectScope: 'ALL', projectIds: [] } })
    expect(await reachOf(agent)).toBe('all')
    expect(withinReach('all')).toEqual({})
    await setProjects(agent, { scope: 'LISTED' })
    await setProjects(agent, { scope: 'LISTED' })
    expect(await reachOf(agent)).toEqual([])
    expect((await factsAbout(world, agent.userId)).slice(1).map(({ payload }) => payload)).toEqual([
      { projectScope: 'all', added: [], removed: [project.uuid] },
      { projectScope: 'listed', added: [], removed: [] },
    ])
  })

  it('ID-8, 45 a project of elsewhere changes nothing', async () => {
    const agent = await world.agent({ projectScope: 'listed' })
    const [own, foreign] = [knownProject(agent), knownProject(await world.otherOrg())]
    await setProjects(agent, { scope: 'LISTED', projectIds: [own.id] })
    expect(await setProjects(agent, { scope: 'LISTED', projectIds: [foreign.id] })).toMatchObject({
      code: 'NOT_FOUND',
      path: ['input', 'projectIds', '0'],
    })
    expect(await setProjects(agent, { scope: 'ALL', projectIds: [own.id] })).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await reachOf(agent)).toEqual([own.uuid])
  })

  it('ID-46 people pass; an agent edits global pages only when told so and writing', () => {
    const person = { kind: 'session' } as never
    const agent = (mode: string, canEditGlobalWiki: boolean) => ({ kind: 'agent', mode, canEditGlobalWiki }) as never
    expect([person, agent('write', true), agent('write', false), agent('read', true)].map(mayEditGlobalWiki)).toEqual([
      true,
      true,
      false,
      false,
    ])
  })
})

it('ID-4, 9 agents are not there for participants and guests', async () => {
  const agent = await world.agent()
  const { room } = await world.pokerRoom()
  const ids = { id: idOf(agent), user: agent.id }
  for (const actor of [await world.anonymous(), await world.embedded(), await world.guest(room)]) {
    const { data, errors } = await actor.send(
      'query ($id: ID!, $user: ID!) { agent(id: $id) { id } agents { totalCount } node(id: $id) { id } user: node(id: $user) { ... on User { agent { id } } } }',
      ids,
    )
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['FORBIDDEN', 'FORBIDDEN'])
    expect([data.agent, data.agents, data.node, data.user?.agent ?? null]).toEqual([null, null, null, null])
  }
})

it('ID-6 what bounds an agent is for admins and itself: others read the rest', async () => {
  const agent = await world.agent()
  await change('agentSuspend', agent, { reason: 'said in private' })
  await change('agentResume', agent)
  const document = `query ($id: ID!) { agent(id: $id) { name statusReason projectIds rateLimitPerMinute budgets intentKeys { kid } createdBy { id } } }`
  const ask = async (who: Pick<Actor, 'run'>) => (await who.run(document, { id: idOf(agent) })).agent
  const bounds = {
    statusReason: null,
    projectIds: null,
    rateLimitPerMinute: null,
    budgets: null,
    intentKeys: null,
    createdBy: null,
  }
  for (const who of [await world.member(), await world.viewer(), await world.agent()]) {
    expect(await ask(who)).toEqual({ name: expect.any(String), ...bounds })
  }
  for (const who of [world.owner, await world.adminKey(), agent]) {
    expect(await ask(who)).toMatchObject({ projectIds: [], intentKeys: [] })
  }
})

it('PLAT-83 agent takes an id or a name, one of them', async () => {
  for (const args of ['', '(id: null)', `(id: "${encodeId('Agent', newId())}", name: "x")`]) {
    const { errors } = await world.owner.send(`{ agent${args} { id } }`)
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_REQUEST' } }])
  }
})
