import { prisma } from '../../db/prisma.ts'
import { arg } from '../../graphql/arguments.ts'
import { builder } from '../../graphql/builder.ts'
import { pageOf } from '../../graphql/connection.ts'
import { LastOwnerError } from '../../graphql/errors.ts'
import { NEWEST_FIRST } from '../../graphql/keyset.ts'
import { mutation } from '../../graphql/mutation.ts'
import { NO_ROWS } from '../../graphql/no-rows.ts'
import { perViewer } from '../../graphql/per-viewer.ts'
import { agentById } from '../agent/loads.ts'
import { ScopeEnum } from '../api-key/enums.ts'
import { keyById } from '../api-key/loads.ts'
import { OrgSummaryType, orgsOf } from '../org/summary.ts'
import { SessionConnection, SessionEdge } from '../session/graphql.ts'
import { liveSessionIds } from '../session/live-sessions.ts'
import { StandingEnum } from '../session/standing-type.ts'
import { eraseViewer } from '../user/erase-user.ts'
import { userById } from '../user/loads.ts'
import { updateViewer } from './update-viewer.ts'
import { ViewerType, viewer } from './viewer-type.ts'

ViewerType.implement({
  description: 'Whoever asks, and how far they reach. For nobody everything is null or empty.',
  fields: (t) => ({
    user: t.prismaField({
      type: 'User',
      nullable: true,
      ...perViewer('The person.'),
      resolve: (query, _viewer, _args, { caller }) =>
        caller?.userId ? prisma.user.findUnique({ ...query, where: { id: caller.userId } }) : null,
    }),
    agent: t.field({
      type: 'Agent',
      nullable: true,
      ...perViewer('The agent, where one asks by its key.'),
      resolve: (_viewer, _args, context) =>
        context.caller?.kind === 'agent' ? agentById(context, context.caller.userId) : null,
    }),
    apiKey: t.field({
      type: 'ApiKey',
      nullable: true,
      ...perViewer('The key that this request came with.'),
      resolve: (_viewer, _args, context) => {
        const { caller } = context
        return caller && caller.kind !== 'session' ? keyById(context, caller.keyId) : null
      },
    }),
    scopes: t.field({
      type: [ScopeEnum],
      nullable: true,
      ...perViewer('What the key is good for; null for a session.'),
      resolve: (_viewer, _args, { caller }) => (caller && caller.kind !== 'session' ? [...caller.scopes] : null),
    }),
    standing: t.field({
      type: StandingEnum,
      nullable: true,
      ...perViewer('In the active org, as it is at this moment; null without any.'),
      resolve: (_viewer, _args, { caller }) => caller?.standing ?? null,
    }),
    org: t.prismaField({
      type: 'Org',
      nullable: true,
      ...perViewer('The active org; null without standing in it.'),
      resolve: (query, _viewer, _args, { caller }) =>
        caller?.standing ? prisma.org.findUnique({ ...query, where: { id: caller.orgId } }) : null,
    }),
    orgs: t.field({
      type: [OrgSummaryType],
      ...perViewer('Where the person is a member, the org used last first. Empty in an embedded session.'),
      resolve: (_viewer, _args, { caller }) => orgsOf(caller),
    }),
    session: t.prismaField({
      type: 'Session',
      nullable: true,
      ...perViewer('The session that this request came with.'),
      resolve: (query, _viewer, _args, { caller }) =>
        prisma.session.findFirst({ ...query, where: caller?.kind === 'session' ? { id: caller.sessionId } : NO_ROWS }),
    }),
    sessions: t.connection(
      {
        type: 'Session',
        ...perViewer('One’s own sessions that hold, the newest first, in every org.'),
        resolve: pageOf({
          type: 'Session',
          order: NEWEST_FIRST,
          model: prisma.session,
          where: async ({ caller }) => ({ id: { in: await liveSessionIds(caller) } }),
        }),
      },
      SessionConnection,
      SessionEdge,
    ),
    notificationSounds: t.boolean({
      nullable: true,
      ...perViewer('Whether a client should play sounds.'),
      resolve: async (_viewer, _args, context) => {
        const { caller } = context
        return caller?.userId ? ((await userById(context, caller.userId))?.notificationSounds ?? null) : null
      },
    }),
  }),
})

builder.queryField('viewer', (t) =>
  t.field({
    type: ViewerType,
    description: 'Whoever asks. Works for nobody too, and for a person without standing in the active org.',
    authScopes: { needs: 'anyone' },
    resolve: () => viewer,
  }),
)

mutation('viewerUpdate', {
  description:
    'Changes what one says of oneself. Works for everybody who has a name: members, anonymous people, guests.',
  input: {
    displayName: arg.text({ max: 64 }).optional().describe('What others see; unchanged when left out.'),
    avatarIcon: arg.text({ min: 0, max: 32 }).optional().describe('Opaque to the server; empty for none.'),
    notificationSounds: arg.boolean().optional().describe('Whether a client should play sounds.'),
  },
  needs: 'human',
  run: updateViewer,
  payload: (t) => ({
    viewer: t.field({ type: ViewerType, description: 'Oneself, as changed.', resolve: () => viewer }),
  }),
})

mutation('viewerErase', {
  description:
    'Takes away everything that says who one is, in all orgs, and signs one out. What one wrote stays, without a name. ' +
    'It cannot be undone. Refused to the last owner of an org; the message names which.',
  input: { confirm: arg.text({ max: 64 }).describe('One’s display name, to be sure.') },
  needs: 'human',
  operations: 'own',
  errors: [LastOwnerError],
  run: eraseViewer,
  payload: (t) => ({
    erased: t.boolean({ description: 'Always true.', resolve: () => true }),
  }),
})
