import type { Sweep } from '../queue/sweeps.ts'
import { pruneAheadEntries } from './ahead/prune-entries.ts'
import { expireGuests } from './link/expire-guests.ts'
import { fireDueRooms } from './room/fire-due-rooms.ts'
import { pruneRoomEvents } from './room/prune-room-events.ts'
import { sweepPresence } from './room/sweep-presence.ts'
import { freezePastDays } from './trend/freeze-past-days.ts'

/** A timer fires within two seconds, a connection that fell silent is noticed within ten. */
export const roomSweeps: readonly Sweep[] = [
  { name: 'due_rooms', every: 1_000, work: fireDueRooms },
  { name: 'room_presence', every: 5_000, work: sweepPresence },
  { name: 'expired_guests', every: 5_000, work: expireGuests },
  { name: 'standup_trend', every: 300_000, work: freezePastDays },
  { name: 'room_events_prune', every: 3_600_000, work: pruneRoomEvents },
  { name: 'ahead_entries_prune', every: 86_400_000, work: pruneAheadEntries },
]
