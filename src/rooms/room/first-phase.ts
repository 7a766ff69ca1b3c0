import { sql } from '../../db/sql.ts'

const FIRST_PHASE: Readonly<Record<string, string>> = { poker: 'active', standup: 'gather' }

/** The phase in which a room of a kind begins, and begins again when it is reopened; a plugin's kind says it itself. */
export async function firstPhase(orgId: string, kind: string): Promise<string> {
  if (Object.hasOwn(FIRST_PHASE, kind)) return FIRST_PHASE[kind] as string
  const [declared] = await sql<{ initial: string | null }>`
    SELECT actions ->> 'initial' AS initial FROM rooms.room_kinds WHERE org_id = ${orgId} AND kind = ${kind}`
  if (!declared?.initial) throw new TypeError(`a ${kind} cannot be played yet`)
  return declared.initial
}
