import type { World } from '../support/world.ts'

/** Counters and signs of life, which a refused call may move (PLAT-69, ID-16), and what webhooks go on trying meanwhile. */
const MOVES: Record<string, readonly string[]> = {
  'platform.rate_limits': ['*'],
  'identity.sessions': ['last_seen_at'],
  'identity.api_keys': ['last_used_at'],
  'platform.webhooks': ['failing_since', 'last_success_at', 'last_failure_at', 'updated_at'],
  'platform.webhook_deliveries': ['body', 'attempts', 'next_attempt_at', 'locked_by', 'locked_until', 'last_error'],
  'platform.webhook_attempts': ['*'],
}
const SCHEMAS = ['identity', 'rooms', 'work', 'gate', 'plugins', 'platform']

let statement: string | undefined

/** Every table with the number of its rows and a hash of what they say: two equal digests mean that nothing was written. */
export async function digestOf(world: World): Promise<Record<string, string>> {
  statement ??= await digestStatement(world)
  const rows = await world.sql<{ name: string; digest: string }>(statement)
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]))
}

async function digestStatement(world: World): Promise<string> {
  const tables = await world.sql<{ name: string }>(
    `SELECT table_schema || '.' || table_name AS name FROM information_schema.tables
     WHERE table_schema = ANY ($1) AND table_type = 'BASE TABLE' ORDER BY 1`,
    [SCHEMAS],
  )
  const parts = tables
    .filter(({ name }) => !MOVES[name]?.includes('*'))
    .map(({ name }) => {
      const row = (MOVES[name] ?? []).reduce((text, column) => `${text} - '${column}'`, 'to_jsonb(t)')
      return `SELECT '${name}' AS name, count(*) || ' ' || md5(coalesce(string_agg(r, '' ORDER BY r), '')) AS digest
        FROM (SELECT (${row})::text AS r FROM ${name} AS t) AS rows`
    })
  return parts.join(' UNION ALL ')
}
