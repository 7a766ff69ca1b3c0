import { describe, expect, it } from 'vitest'
import { filesWith } from './sources.ts'

/** What would outlive the transaction on its connection, where the next tenant finds it. */
const SESSION_WIDE = [
  /\bset_config\s*\([^)]*,\s*false\s*\)/i,
  // SET at the head of a statement, other than SET LOCAL.
  /[`'";]\s*SET\s+(?!LOCAL\b|CONSTRAINTS\b|TRANSACTION\b)(SESSION\b|ROLE\b|[a-z_.]+\s*(=|TO\b))/,
]

describe('what stands in one place only', () => {
  it('PLAT-76 reads the environment in the configuration alone', async () => {
    expect(await filesWith(/process\.env/)).toEqual(['src/config.ts'])
  })

  it('PLAT-4 sets nothing for a whole session, so that a transaction pooler may stand in between', async () => {
    for (const pattern of SESSION_WIDE) expect(await filesWith(pattern)).toEqual([])
  })

  it.each([
    "query(`SELECT set_config('moothall.org_id', $1, false)`)",
    "query('SET moothall.org_id = 1')",
    'query(`SET search_path TO work`)',
    'sql`BEGIN; SET ROLE moothall_owner`',
    "query('SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY')",
  ])('PLAT-4 would find %s', (planted) => {
    expect(SESSION_WIDE.some((pattern) => pattern.test(planted))).toBe(true)
  })

  it('calls the functions that work before the org is known from one module', async () => {
    expect(await filesWith(/identity\.preauth_/)).toHaveLength(1)
  })
})
