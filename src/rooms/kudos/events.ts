import { z } from 'zod'
import { defineEvent, nodeId } from '../../platform/index.ts'
import { inSpace } from '../space/projection.ts'
import { withKudos } from './projection.ts'

const kudosId = nodeId('Kudos')

export const kudosGiven = defineEvent('kudos.given', {
  category: 'activity',
  deliverable: true,
  description: 'A member thanked another one.',
  payload: z.strictObject({ kudosId }),
  projection: withKudos,
})

export const kudosDeleted = defineEvent('kudos.deleted', {
  category: 'audit_only',
  description: 'Somebody took their thanks back.',
  payload: z.strictObject({ kudosId }),
  projection: inSpace,
})
