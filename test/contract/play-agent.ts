import { encodeId } from '../../src/graphql/ids.ts'
import type { World } from '../support/world.ts'
import type { Play } from './stage.ts'

/** An agent of the play's own, with a key. Made where a play needs one: an org has 500 agents at most. */
export async function withAgent(world: World, play: Play): Promise<void> {
  const { userId, keyId } = await world.agent({ space: null })
  play.agentId = encodeId('Agent', userId)
  play.keyId = encodeId('ApiKey', keyId)
}
