import type { Sweep } from '../queue/sweeps.ts'
import { fireDueRooms } from './room/fire-due-rooms.ts'
import { pruneRoomEvents } from './room/prune-room-events.ts'
import { sweepPresence } from './room/sweep-presence.ts'

/** A timer fires within two seconds, a connection that fell silent is noticed within ten. */
export const roomSweeps: readonly Sweep[] = [
  { name: 'due_rooms', every: 1_000, work: fireDueRooms },
  { name: 'room_presence', every: 5_000, work: sweepPresence },
  { name: 'room_events_prune', every: 3_600_000, work: pruneRoomEvents },
]
