import { createHash, createPrivateKey, createPublicKey } from 'node:crypto'
import { kidOf } from '../../src/identity/agent/intent-key.ts'
import { uuidOf, type World } from '../support/world.ts'
import { withAgent } from './play-agent.ts'
import type { Play } from './stage.ts'

/** What stands before the 32 secret bytes of an Ed25519 key in PKCS #8. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** A public key of the play's own, always the same one. */
export function intentKeyOf({ space }: Play): { publicKey: string; kid: string } {
  const seed = createHash('sha256').update(space.slug).digest()
  const secret = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
  const raw = Buffer.from(createPublicKey(secret).export({ format: 'jwk' }).x!, 'base64url')
  return { publicKey: `ed25519:${raw.toString('base64url')}`, kid: kidOf(raw) }
}

/** The play's agent has that key. */
export async function withIntentKey(world: World, play: Play): Promise<void> {
  await withAgent(world, play)
  const { kid, publicKey } = intentKeyOf(play)
  const key = { kid, public_key: publicKey, created_at: '2026-01-01T00:00:00Z', created_by: play.deputy.userId }
  await world.sql('UPDATE identity.agents SET intent_keys = $2::jsonb WHERE id = $1', [
    uuidOf(play.agentId),
    JSON.stringify([key]),
  ])
}
