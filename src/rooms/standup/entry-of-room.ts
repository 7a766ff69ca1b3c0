import { InvalidInputError, NotFoundError } from '../../graphql/errors.ts'
import type { EntryColumns } from '../live/event-payloads.ts'
import { findEntry, isAnswered } from './entry.ts'
import type { StandupRoom } from './standup-room.ts'

/** The entry that somebody comments on or reacts to: one that says something (ROOM-98). */
export async function requireAnswered(room: StandupRoom, entryUserId: string): Promise<EntryColumns> {
  const entry = await findEntry(room, entryUserId)
  if (!entry) throw new NotFoundError('entryUserId')
  if (!isAnswered(entry)) {
    throw new InvalidInputError([{ path: ['input', 'entryUserId'], message: 'has not answered yet' }])
  }
  return entry
}
