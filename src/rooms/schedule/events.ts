import { z } from 'zod'
import { defineEvent, nodeId } from '../../platform/index.ts'
import { inSpace } from '../space/projection.ts'
import { SKIP_REASONS } from './outcome.ts'
import { withSlot } from './projection.ts'

const scheduleId = nodeId('StandupSchedule')
const slotDate = z.iso.date()

export const scheduleSaved = defineEvent('standup.schedule_saved', {
  category: 'audit_only',
  description: 'The schedule of a space’s standups was saved: whether it is on, and how often it was saved before.',
  payload: z.strictObject({ enabled: z.boolean(), revision: z.int().min(0) }),
  projection: inSpace,
})

export const standupOpened = defineEvent('standup.opened', {
  category: 'activity',
  deliverable: true,
  description: 'A scheduled standup opened.',
  payload: z.strictObject({ scheduleId, slotDate }),
  projection: withSlot,
})

export const standupSkipped = defineEvent('standup.skipped', {
  category: 'activity',
  deliverable: true,
  description: 'A scheduled standup did not open: nobody who owns the space could lead it, or its window had passed.',
  payload: z.strictObject({ slotDate, reason: z.enum(SKIP_REASONS) }),
  projection: inSpace,
})
