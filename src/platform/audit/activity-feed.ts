import { builder, callerOf } from '../../graphql/builder.ts'
import { scopeOf } from '../../graphql/context.ts'
import { requestError } from '../../graphql/request-errors.ts'
import { requireNeed } from '../../graphql/require-need.ts'
import { readableActivity } from './access.ts'
import { AuditFeedItemType, follow, itemsAt, ORDER, placeFrom } from './feed-graphql.ts'
import { followFeed } from './feed-source.ts'
import { knowsIdsOf } from './named-ids.ts'

builder.subscriptionField('activityFeed', (t) =>
  t.field({
    type: AuditFeedItemType,
    description: `What \`activity\` shows as it happens, ${ORDER}. After a break go on with the last cursor.`,
    args: follow.args,
    authScopes: { needs: 'viewer' },
    extensions: { needs: 'viewer' }, // what its open streams must keep reaching
    subscribe: async (_root, args, context) => {
      const caller = requireNeed('viewer', context)
      const { after, filter } = follow.values(args)
      const readable = readableActivity(caller)
      if (!(await knowsIdsOf(filter, readable, context))) throw requestError('NOT_FOUND')
      const place = await placeFrom(after, caller.orgId)
      const scope = { ...scopeOf(caller, context.requestId), orgId: caller.orgId }
      return followFeed(scope, place, { AND: [readable, filter ?? {}] })
    },
    resolve: async (position, _args, context, info) => {
      // Looked at once more: whoever left the place since the feed was read gets nothing of it any more.
      const [item] = await itemsAt([position], context, info, ['event'], readableActivity(callerOf(context)))
      if (!item) throw requestError('NOT_FOUND')
      return item
    },
  }),
)
