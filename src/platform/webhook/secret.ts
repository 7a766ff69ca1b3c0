import { randomBytes } from 'node:crypto'
import { currentKeyId, sealSecret, unsealSecret } from '../keyring/keyring.ts'
import { registerSealedColumn } from '../keyring/sealed-columns.ts'

const TABLE = 'platform.webhooks'
type Column = 'secret_envelope' | 'previous_secret_envelope'

for (const column of ['secret_envelope', 'previous_secret_envelope']) {
  registerSealedColumn({ table: TABLE, column, keyColumn: 'kek_id' })
}

type Owner = { orgId: string; id: string }
export type SealedSecret = { envelope: Buffer; hint: string; kekId: string }

/** A secret of the form that Standard Webhooks describe. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/** May ask a key service, so it goes outside operations. */
export async function seal(owner: Owner, column: Column, secret: string): Promise<SealedSecret> {
  const envelope = await sealSecret(placeOf(owner, column), secret)
  return { envelope, hint: secret.slice(-4), kekId: currentKeyId() }
}

export const unseal = (owner: Owner, column: Column, envelope: Uint8Array): Promise<string> =>
  unsealSecret(placeOf(owner, column), envelope)

const placeOf = ({ orgId, id }: Owner, column: Column) => ({ orgId, table: TABLE, rowId: id, column })
