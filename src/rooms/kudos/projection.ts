import { sql } from '../../db/sql.ts'
import { encodeId } from '../../graphql/ids.ts'
import type { Projection, RowsById } from '../../platform/index.ts'
import { inSpace } from '../space/projection.ts'

type KudosRow = { id: string; text: string; fromId: string; fromName: string; toId: string; toName: string }

const kudos: RowsById<KudosRow> = async (orgId, ids) => {
  const rows = await sql<KudosRow>`
    SELECT k.id, k.text, giver.id AS "fromId", giver.display_name AS "fromName", taker.id AS "toId",
      taker.display_name AS "toName"
    FROM rooms.kudos AS k
    JOIN identity.users AS giver ON giver.id = k.from_user_id
    JOIN identity.users AS taker ON taker.id = k.to_user_id
    WHERE k.org_id = ${orgId} AND k.id = ANY (${ids}::uuid[])`
  return new Map(rows.map((row) => [row.id, row]))
}

const person = (id: string, displayName: string) => ({ id: encodeId('User', id), displayName })

/** The event's payload, its space and the two people, null once the kudos is gone; what was said is for the space alone. */
export const withKudos: Projection<{ kudosId: string }> = async (event, form, rows) => {
  const row = await rows.row(kudos, event.payload.kudosId)
  return {
    ...(await inSpace(event, form, rows)),
    from: row && person(row.fromId, row.fromName),
    to: row && person(row.toId, row.toName),
    ...(form === 'space' && { text: row?.text ?? null }),
  }
}
