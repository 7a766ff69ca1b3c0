import type { TestRoom } from '../support/actor.ts'
import type { World } from '../support/world.ts'

/** Everything a change of a room leaves behind: two equal traces mean that nothing changed in between. */
export async function traceOf(world: World, room: TestRoom): Promise<unknown> {
  const rows = (from: string, id = 'room_id') =>
    world.sql(`SELECT to_jsonb(t) AS row FROM ${from} AS t WHERE ${id} = $1 ORDER BY 1`, [room.uuid])
  const [rooms, stories, votes, voters, events, facts, entries, comments, reactions] = await Promise.all([
    // When the facilitator was last seen is no change (ROOM-41).
    world.sql(`SELECT to_jsonb(r) - 'facilitator_seen_at' - 'updated_at' AS row FROM rooms.rooms AS r WHERE id = $1`, [
      room.uuid,
    ]),
    rows('rooms.stories'),
    rows('rooms.votes'),
    rows('rooms.round_voters'),
    rows('rooms.room_events'),
    rows('platform.audit_events'),
    rows('rooms.standup_entries'),
    rows('rooms.standup_entry_comments'),
    rows('rooms.standup_entry_reactions'),
  ])
  return { rooms, stories, votes, voters, events, facts, entries, comments, reactions }
}

/** Runs `act` and says whether the room is the same afterwards. */
export async function changes(world: World, room: TestRoom, act: () => Promise<unknown>): Promise<boolean> {
  const before = await traceOf(world, room)
  await act()
  return JSON.stringify(await traceOf(world, room)) !== JSON.stringify(before)
}
