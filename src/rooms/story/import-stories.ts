import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { newId } from '../../lib/type-id.ts'
import { requireActivePoker } from '../poker/access.ts'
import { change, fact, noChange, type RoomChange } from '../room/change.ts'
import { type LockedRoom, lockRoom, requireHost } from '../room/lock-room.ts'
import { storyImported } from './events.ts'
import { requirePlaces, shelfOf } from './limit.ts'
import { appendedPosition } from './position.ts'
import { type ImportedStory, readStories, requireSound } from './read-stories.ts'

type ImportStories = { roomId: string; csv: string }
export type StoryImport = RoomChange & { added: number; skipped: number }

/** Adds the stories of a CSV file behind the last one: all of them or none (ROOM-61). */
export async function importStories(caller: UserCaller, { roomId, csv }: ImportStories): Promise<StoryImport> {
  const read = readStories(csv) // before the lock: nobody waits for it
  const room = await lockRoom(caller, roomId)
  requireHost(caller, room)
  requireActivePoker(room)
  const stories = requireSound(read, room.config.deck)

  const fresh = await unknownTo(room, stories)
  const counts = { added: fresh.length, skipped: stories.length - fresh.length }
  if (fresh.length === 0) return { ...noChange(room), ...counts }
  const { count, last } = await shelfOf(room)
  requirePlaces(count, fresh.length)
  const storyIds = await append(caller, room, fresh, last)
  const told = fact(storyImported, counts)
  const payload = { storyIds, skipped: counts.skipped }
  return { ...(await change(caller, room, [{ type: 'StoriesImported', payload, fact: told }])), ...counts }
}

/** A ref names one story of a room: who has it is there already, from before or from further up in the file. */
async function unknownTo({ orgId, id }: LockedRoom, stories: readonly ImportedStory[]): Promise<ImportedStory[]> {
  const rows = await sql<{ ref: string }>`
    SELECT ref FROM rooms.stories WHERE org_id = ${orgId} AND room_id = ${id} AND ref <> ''`
  const known = new Set(rows.map(({ ref }) => ref))
  return stories.filter(({ ref }) => {
    if (known.has(ref)) return false
    if (ref !== '') known.add(ref)
    return true
  })
}

async function append(
  { userId }: UserCaller,
  { orgId, id }: LockedRoom,
  stories: readonly ImportedStory[],
  last: number | null,
): Promise<string[]> {
  const ids = stories.map(() => newId())
  let position = last
  const positions = stories.map(() => {
    position = appendedPosition(position)
    return position
  })
  const column = <K extends keyof ImportedStory>(name: K) => stories.map((story) => story[name])
  await sql`
    INSERT INTO rooms.stories (org_id, room_id, created_by, id, position, title, notes, ref, estimate)
    SELECT ${orgId}::uuid, ${id}::uuid, ${userId}::uuid, row.*
    FROM unnest(${ids}::uuid[], ${positions}::float8[], ${column('title')}::text[], ${column('notes')}::text[],
      ${column('ref')}::text[], ${column('estimate')}::text[]) AS row`
  return ids
}
