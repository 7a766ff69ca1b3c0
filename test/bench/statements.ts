import pg from 'pg'

/** What a statement cost since the counting began. */
export type Counted = { text: string; calls: number; ms: number }

export type Statements = {
  reset(): Promise<void>
  /** Those that took longest together. */
  top(count: number): Promise<Counted[]>
  close(): Promise<void>
}

/** Reads what the database counts by itself (`pg_stat_statements`, loaded at its start). */
export async function openStatements(superuserUrl: string): Promise<Statements> {
  const client = new pg.Client({ connectionString: superuserUrl })
  await client.connect()
  await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements')
  return {
    reset: async () => void (await client.query('SELECT pg_stat_statements_reset()')),
    async top(count) {
      const { rows } = await client.query<Counted>(
        `SELECT regexp_replace(query, '\\s+', ' ', 'g') AS text, calls::integer, total_exec_time AS ms
         FROM pg_stat_statements ORDER BY total_exec_time DESC LIMIT $1`,
        [count],
      )
      return rows
    },
    close: () => client.end(),
  }
}
