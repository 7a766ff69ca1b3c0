import type { Command } from './command.ts'
import { withWaitlist } from './waitlist.ts'

type Entry = { email: string; note: string | null; createdAt: string }

/** Who asked to be let in, the longest waiting first. */
export const command: Command = {
  options: {},
  async run(_values, terminal) {
    const entries = await withWaitlist(async (client) => {
      const { rows } = await client.query<Entry>(
        `SELECT email, note, to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS "createdAt"
         FROM identity.waitlist ORDER BY created_at, id`,
      )
      return rows
    })
    const lines = entries.map(({ email, note, createdAt }) =>
      `${createdAt}  ${plain(email)}  ${plain(note ?? '')}`.trimEnd(),
    )
    terminal.print(lines.length > 0 ? lines.join('\n') : 'Nobody waits.', { entries })
  },
}

/** Anybody wrote it, and a terminal obeys control characters. */
const plain = (text: string) => text.replace(/\p{C}+/gu, ' ')
