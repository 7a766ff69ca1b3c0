import { sql } from '../../db/sql.ts'
import { onUserErased } from '../../identity/index.ts'

// Away days and the feed are nobody else's to remove, so a function of the database does it (ID-65).
onUserErased(async ({ userId }) => {
  await sql`SELECT rooms.erase_personal(${userId})`
})
