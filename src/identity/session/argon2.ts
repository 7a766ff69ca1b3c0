import * as crypto from 'node:crypto'

export type Argon2Cost = { memory: number; passes: number; parallelism: number }
export type Argon2Input = Argon2Cost & { message: string; nonce: Uint8Array; tagLength: number }
export type Argon2id = (input: Argon2Input) => Promise<Buffer>

export const nodeArgon2id: Argon2id = (input) =>
  new Promise((resolve, reject) => {
    crypto.argon2('argon2id', input, (error, tag) => (error ? reject(error) : resolve(tag)))
  })

export const addonArgon2id: Argon2id = async ({ message, nonce, tagLength, memory, passes, parallelism }) => {
  const { hashRaw } = await import('@node-rs/argon2')
  // The addon's own default is argon2id, version 19; its const enums cannot be imported without a build.
  return hashRaw(message, { salt: nonce, outputLen: tagLength, memoryCost: memory, timeCost: passes, parallelism })
}

/** Node brings argon2 since 24.7 where its OpenSSL has it. */
export const argon2id: Argon2id = typeof crypto.argon2 === 'function' ? nodeArgon2id : addonArgon2id
