import { createRequire, syncBuiltinESMExports } from 'node:module'
import { nodeArgon2id } from '../../src/identity/session/argon2.ts'

type Cost = { memory: number; passes: number; parallelism: number }
type Argon2 = (algorithm: string, parameters: Cost & object, done: (...result: never[]) => void) => void

const crypto = createRequire(import.meta.url)('node:crypto') as { argon2: Argon2 }
const real = crypto.argon2

/** For tests about what surrounds the computation: the same function over a thousandth of the memory. */
const cheap: Argon2 = (algorithm, parameters, done) => real(algorithm, { ...parameters, memory: 64, passes: 1 }, done)

function install(argon2: Argon2): void {
  crypto.argon2 = argon2
  syncBuiltinESMExports()
}

export const useCheapPasswords = () => install(cheap)
export const useRealPasswords = () => install(real)

/** How many passwords `body` computes. */
export async function countComputations(body: () => Promise<unknown>): Promise<number> {
  let computed = 0
  install((...call) => {
    computed++
    cheap(...call)
  })
  await body().finally(useCheapPasswords)
  return computed
}

/** Runs `meanwhile` in the middle of the first computation of `body`. */
export function duringComputation<T>(meanwhile: () => Promise<unknown>, body: () => Promise<T>): Promise<T> {
  install((...call) => {
    install(cheap)
    void meanwhile().then(() => cheap(...call))
  })
  return body().finally(useCheapPasswords)
}

/** Holds every computation that begins until it is called. */
export function holdComputations(): () => void {
  const held: Parameters<Argon2>[] = []
  install((...call) => void held.push(call))
  return () => {
    useCheapPasswords()
    for (const call of held) cheap(...call)
  }
}

/** A PHC string with the parameters of another time. */
export async function hashedWith(message: string, cost: Cost): Promise<string> {
  const nonce = Buffer.alloc(16, 7)
  const tag = await nodeArgon2id({ message, nonce, tagLength: 32, ...cost })
  const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${text(nonce)}$${text(tag)}`
}
