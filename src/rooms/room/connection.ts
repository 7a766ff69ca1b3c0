import { by } from '../../graphql/columns.ts'
import { connectionType } from '../../graphql/connection.ts'
import { filterOf } from '../../graphql/filters.ts'
import type { SortKey } from '../../graphql/keyset.ts'

export const [RoomConnection, RoomEdge] = connectionType('Room', 'Room')

export const NEWEST_ROOMS: readonly SortKey[] = [
  { field: 'createdAt', type: 'instant', descending: true },
  { field: 'id', type: 'uuid', descending: true },
]

export const roomFilter = filterOf('RoomFilter', {
  title: by.text({ column: 'title' }),
  kind: by.text({ column: 'kind' }),
  phase: by.text({ column: 'phase' }),
  endedAt: by.instant({ column: 'endedAt', nullable: true }),
  createdAt: by.instant({ column: 'createdAt' }),
})
