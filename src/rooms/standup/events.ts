import { z } from 'zod'
import { defineEvent, nodeId } from '../../platform/index.ts'
import { SPEAKER_REASONS } from '../live/event-payloads.ts'
import { inRoom } from '../space/projection.ts'
import { ENTRY_TEXTS } from './entry.ts'
import { withEntries } from './projection.ts'
import { SPEAKING_ORDERS } from './standup-room.ts'

const userId = nodeId('User')
const count = z.int().min(0)
const speakerId = userId.nullable()

export const standupStarted = defineEvent('standup.started', {
  category: 'audit_only',
  description: 'The speaking of a standup began.',
  payload: z.strictObject({ order: z.enum(SPEAKING_ORDERS), people: count, speakerId }),
  projection: inRoom,
})

export const standupGathered = defineEvent('standup.gathered', {
  category: 'audit_only',
  description: 'A standup went back from speaking to gathering.',
  payload: z.strictObject({}),
  projection: inRoom,
})

export const speakerChanged = defineEvent('standup.speaker_changed', {
  category: 'audit_only',
  description: 'Somebody else has the turn, or after the last one nobody.',
  payload: z.strictObject({ speakerId, previousId: userId.nullable(), reason: z.enum(SPEAKER_REASONS) }),
  projection: inRoom,
})

export const speakerSkipped = defineEvent('standup.speaker_skipped', {
  category: 'audit_only',
  description: 'Somebody is passed over in the order of a standup, or no longer.',
  payload: z.strictObject({ userId, skipped: z.boolean() }),
  projection: inRoom,
})

export const orderSet = defineEvent('standup.order_set', {
  category: 'audit_only',
  description: 'Those who have not spoken in a standup were put into another order.',
  payload: z.strictObject({ people: count }),
  projection: inRoom,
})

export const entrySaved = defineEvent('standup.entry_saved', {
  category: 'audit_only',
  description: 'Somebody wrote their entry of a standup; the names of the fields, not what they say.',
  payload: z.strictObject({ userId, fields: z.array(z.enum(ENTRY_TEXTS)), answered: z.boolean() }),
  projection: inRoom,
})

export const readySet = defineEvent('standup.ready_set', {
  category: 'audit_only',
  description: 'Somebody said whether they are ready for the standup to begin.',
  payload: z.strictObject({ userId, ready: z.boolean() }),
  projection: inRoom,
})

export const entryCommented = defineEvent('standup.entry_commented', {
  category: 'audit_only',
  description: 'Somebody commented on an entry of a standup, or took a comment back.',
  payload: z.strictObject({
    entryUserId: userId,
    commentId: nodeId('StandupEntryComment'),
    change: z.enum(['added', 'removed']),
  }),
  projection: inRoom,
})

export const entryReacted = defineEvent('standup.entry_reacted', {
  category: 'audit_only',
  description: 'Somebody reacted to an entry of a standup, or took a reaction back.',
  payload: z.strictObject({ entryUserId: userId, on: z.boolean() }),
  projection: inRoom,
})

export const standupClosed = defineEvent('standup.closed', {
  category: 'activity',
  deliverable: true,
  description: 'A standup ended for the first time: how many members could have answered, and how many did.',
  payload: z.strictObject({ slotDate: z.iso.date().nullable(), answered: count, eligible: count }),
  projection: withEntries,
})
