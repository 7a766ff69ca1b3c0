import { hkdfSync } from 'node:crypto'
import { identitySettings } from './settings.ts'

/** Keys for one purpose of ours, the same in every process of the instance: the current one first. */
export function derivedKeys(purpose: string): [Buffer, ...Buffer[]] {
  const [current, ...older] = identitySettings().keyPeppers.map(({ secret }) =>
    Buffer.from(hkdfSync('sha256', secret, '', `moothall ${purpose}`, 32)),
  )
  if (!current) throw new Error('identity has no pepper')
  return [current, ...older]
}
