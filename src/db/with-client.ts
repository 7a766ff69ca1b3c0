import pg from 'pg'

/** Work on a connection of its own, beside the pool: what is done before there is one, or as somebody else. */
export async function withClient<T>(options: pg.ClientConfig, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(options)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
