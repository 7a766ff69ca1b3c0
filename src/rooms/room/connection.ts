import { by } from '../../graphql/columns.ts'
import { connectionType } from '../../graphql/connection.ts'
import { filterOf } from '../../graphql/filters.ts'

export const [RoomConnection, RoomEdge] = connectionType('Room', 'Room')

export const roomFilter = filterOf('RoomFilter', {
  title: by.text({ column: 'title' }),
  kind: by.text({ column: 'kind' }),
  phase: by.text({ column: 'phase' }),
  endedAt: by.instant({ column: 'endedAt', nullable: true }),
  createdAt: by.instant({ column: 'createdAt' }),
})
