import { z } from 'zod'
import { defineEvent, nodeId } from '../../platform/index.ts'
import { inRoom } from '../space/projection.ts'
import { ofStory } from './projection.ts'

const storyId = nodeId('Story')
const estimate = z.string().nullable()

export const storyAdded = defineEvent('story.added', {
  category: 'activity',
  deliverable: true,
  description: 'A story was added to a poker room.',
  payload: z.strictObject({ storyId }),
  projection: ofStory,
})

export const storyImported = defineEvent('story.imported', {
  category: 'activity',
  deliverable: true,
  description: 'Stories were added to a poker room from a CSV file; those whose ref it had were skipped.',
  payload: z.strictObject({ added: z.int().min(1), skipped: z.int().min(0) }),
  projection: inRoom,
})

export const storyEstimated = defineEvent('story.estimated', {
  category: 'activity',
  deliverable: true,
  description: 'The estimate of a story was written down, changed or cleared.',
  payload: z.strictObject({ storyId, estimate, previous: estimate }),
  projection: ofStory,
})

export const storyUpdated = defineEvent('story.updated', {
  category: 'audit_only',
  description: 'The text of a story changed; the names of the fields, not what they say.',
  payload: z.strictObject({ storyId, fields: z.array(z.enum(['title', 'notes', 'ref'])) }),
  projection: ofStory,
})

export const storyMoved = defineEvent('story.moved', {
  category: 'audit_only',
  description: 'A story got another place in the order of its room.',
  payload: z.strictObject({ storyId }),
  projection: ofStory,
})

export const storyDeleted = defineEvent('story.deleted', {
  category: 'audit_only',
  description: 'A story was deleted, and its votes with it.',
  payload: z.strictObject({ storyId }),
  projection: ofStory,
})
