import { arg } from '../../graphql/arguments.ts'
import { builder, callerOf, type SchemaTypes } from '../../graphql/builder.ts'
import { mutation } from '../../graphql/mutation.ts'
import { mintFeed } from './mint-feed.ts'
import { type Feed, ownFeed } from './own-feed.ts'
import { revokeFeed } from './revoke-feed.ts'
import { updateFeed } from './update-feed.ts'

const CalendarFeedType = builder.objectRef<Feed>('CalendarFeed').implement({
  description: 'An address under which the viewer’s calendar fetches the standups of their spaces in the org.',
  fields: (t) => ({
    remindMinutes: t.exposeInt('remindMinutes', {
      description: 'How many minutes before a standup the calendar reminds; 0: when it opens.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When its address was made.' }),
  }),
})

const MINUTES_MAX = 1_440
const remindMinutes = arg
  .int(0, MINUTES_MAX)
  .describe('How many minutes before a standup the calendar reminds, 0 to 1440; 0: when it opens.')

const ownFeedField = <R extends object>(t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, R>) =>
  t.field({
    type: CalendarFeedType,
    nullable: true,
    description: 'The feed as it is now; null when there is none.',
    resolve: (_payload, _args, context) => feedOfViewer(callerOf(context)),
  })

const feedOfViewer = ({
  orgId,
  userId,
}: {
  orgId: string
  userId?: string | undefined
}): Promise<Feed | null> | null => (userId === undefined ? null : ownFeed({ orgId, userId }))

builder.queryField('calendarFeed', (t) =>
  t.field({
    type: CalendarFeedType,
    nullable: true,
    authScopes: { needs: 'person' },
    description: 'The caller’s calendar feed in the org, without its address; null when there is none.',
    resolve: (_root, _args, context) => feedOfViewer(callerOf(context)),
  }),
)

mutation('calendarFeedMint', {
  description:
    'Makes an address under which a calendar fetches the scheduled standups of the caller’s spaces in the org, and shows ' +
    'it this once. Whoever has the address reads them; the one before opens nothing any more. For registered people.',
  input: { remindMinutes },
  needs: 'person',
  run: mintFeed,
  payload: (t) => ({
    url: t.exposeString('url', { description: 'The secret address, in iCalendar form.' }),
    calendarFeed: ownFeedField(t),
  }),
})

mutation('calendarFeedUpdate', {
  description: 'Sets how early the caller’s calendar reminds them. The address stays.',
  input: { remindMinutes },
  needs: 'person',
  run: updateFeed,
  payload: (t) => ({ calendarFeed: ownFeedField(t) }),
})

mutation('calendarFeedRevoke', {
  description: 'Ends the caller’s calendar feed in the org: its address opens nothing any more.',
  input: {},
  needs: 'person',
  run: revokeFeed,
  payload: (t) => ({ calendarFeed: ownFeedField(t) }),
})
