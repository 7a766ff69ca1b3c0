import { sql } from '../../db/sql.ts'
import type { SessionCaller } from '../../graphql/caller.ts'
import { invalidInput } from '../../graphql/errors.ts'
import { requestError } from '../../graphql/request-errors.ts'
import { displayNameFault } from '../../lib/text.ts'
import { record } from '../../platform/index.ts'
import { userUpdated } from '../user/events.ts'

type Profile = { displayName: string; avatarIcon: string; notificationSounds: boolean }
type ProfileChange = { [K in keyof Profile]?: Profile[K] | undefined }

/** Changes the caller's own name, icon and sounds (ID-11); what stays as it was is no change. */
export async function updateViewer(caller: SessionCaller, input: ProfileChange): Promise<object> {
  const fault = input.displayName === undefined ? null : displayNameFault(input.displayName)
  if (fault) throw invalidInput('displayName', fault)

  const [before] = await sql<Profile>`
    SELECT display_name AS "displayName", avatar_icon AS "avatarIcon", notification_sounds AS "notificationSounds"
    FROM identity.users WHERE id = ${caller.userId} AND status = 'active' FOR NO KEY UPDATE`
  if (!before) throw requestError('UNAUTHENTICATED') // erased or disabled meanwhile: nothing says again who they were
  const fields = (Object.keys(before) as (keyof Profile)[]).filter(
    (name) => input[name] !== undefined && input[name] !== before[name],
  )
  if (fields.length === 0) return {}

  const after = { ...before, ...Object.fromEntries(fields.map((name) => [name, input[name]])) } as Profile
  await sql`
    UPDATE identity.users SET display_name = ${after.displayName}, avatar_icon = ${after.avatarIcon},
      notification_sounds = ${after.notificationSounds}
    WHERE id = ${caller.userId}`
  await record(caller, userUpdated, { target: { kind: 'User', id: caller.userId }, payload: { fields } })
  return {}
}
