import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const WHOLE_STATE = `id kind title phase version serverNow endedAt createdAt presentUserIds
  config { ... on PokerConfig { deckName cards ordinal autoReveal openVoting } }
  facilitator { id displayName } cofacilitators { id displayName } timer { startedAt endsAt onEnd }
  participants { user { id displayName } guest spectator cofacilitator present joinedAt }
  poker {
    roundVersion revealed votedUserIds myCard currentStory { id } waitingFor { id displayName }
    stories {
      id title notes ref position estimate quick revealedAt votes { user { id displayName } card }
      result { counted average mode min max consensus suggested distribution { card count } }
    }
  }`
const requested = (answer: { extensions?: unknown }) =>
  (answer.extensions as { cost: { requested: number } }).cost.requested

describe('PLAT-67', () => {
  it('PLAT-67 lets a guest read the whole state of the room, in one document', async () => {
    const { room } = await world.pokerRoom({ voters: 1, stories: 2 })
    const guest = await world.guest(room)
    const answer = await guest.send(`query ($id: ID!) { room(id: $id) { ${WHOLE_STATE} } }`, room)
    expect(answer.errors).toBeUndefined()
    expect(answer.data).toMatchObject({ room: { poker: { stories: [{}, {}] } } })
    expect(answer.extensions).toMatchObject({ cost: { maximum: 2_000 } })
    expect(requested(answer)).toBeGreaterThan(1_000)
  })

  it('PLAT-67 lets a member read it with the space around it', async () => {
    const { room } = await world.pokerRoom({ voters: 1, stories: 2 })
    const answer = await world.owner.send(
      `query ($id: ID!) { viewer { spaces { nodes { id name members(first: 20) { nodes { user { displayName } } } } } }
        room(id: $id) { ${WHOLE_STATE} space { name kinds { kind } decks { id } rooms { nodes { title } } } } }`,
      room,
    )
    expect(answer.errors).toBeUndefined()
  })

  it.each([
    ['whole states', WHOLE_STATE],
    ['votes', 'poker { stories { votes { card } } }'],
    ['results', 'poker { stories { result { distribution { count } } } }'],
  ])('PLAT-67 refuses 20 rooms’ worth of %s at once', async (_what, selection) => {
    const { room } = await world.pokerRoom({ voters: 1, stories: 2 })
    const aliases = Array.from({ length: 20 }, (_, at) => `r${at}: room(id: $id) { ${selection} }`)
    const fragment = selection === WHOLE_STATE ? `fragment State on Room { ${selection} }` : ''
    const fields = fragment ? aliases.map((_, at) => `r${at}: room(id: $id) { ...State }`) : aliases
    const answer = await world.owner.send(`query ($id: ID!) { ${fields.join(' ')} } ${fragment}`, room)
    expect(answer).toMatchObject({ errors: [{ extensions: { code: 'QUERY_TOO_COMPLEX' } }] })
    expect(JSON.stringify(answer.errors)).toMatch(/cost/i)
  })
})
