import type { FieldMap } from '@pothos/core'
import { prisma } from '../../db/prisma.ts'
import { arg } from '../../graphql/arguments.ts'
import { builder, callerOf, type SchemaTypes } from '../../graphql/builder.ts'
import { connectionType } from '../../graphql/connection.ts'
import { enumOf } from '../../graphql/enums.ts'
import { LimitReachedError } from '../../graphql/errors.ts'
import { mutation } from '../../graphql/mutation.ts'
import { NO_ROWS } from '../../graphql/no-rows.ts'
import { perViewer } from '../../graphql/per-viewer.ts'
import { ViewerType, viewer } from '../viewer/viewer-type.ts'
import { reachableSessions, seesOrigin } from './access.ts'
import { createAnonymousSession } from './create-anonymous-session.ts'
import { createSessionWithPassword } from './create-session-with-password.ts'
import { DELIVERIES, type SignedIn } from './delivery.ts'
import { endAllSessions } from './end-all-sessions.ts'
import { endSession } from './end-session.ts'
import { SignInFailedError } from './errors.ts'
import { REVOKE_REASONS, type RevokeReason, SESSION_METHODS, type SessionMethod } from './events.ts'
import { revokeSession } from './revoke-session.ts'
import { switchOrg } from './switch-org.ts'

const SessionMethodEnum = enumOf('SessionMethod', 'How somebody signed in.', SESSION_METHODS)
const SessionRevokeReasonEnum = enumOf(
  'SessionRevokeReason',
  'What ended a session before its time: signing out, its person elsewhere, an admin, a lost role or link, erasure, ' +
    'or too many other sessions.',
  ['logout', ...REVOKE_REASONS] as const,
)
const SessionDeliveryEnum = enumOf(
  'SessionDelivery',
  'How the token reaches you. COOKIE: an HttpOnly cookie, and requests echo `csrfToken` in the header ' +
    '`x-moothall-csrf`; over HTTP only. BEARER: `token` in the payload, sent as `Authorization: Bearer …`.',
  DELIVERIES,
)

builder.prismaNode('Session', {
  description: 'A sign-in. Visible to its person, and to admins of the org it is active in.',
  id: { resolve: (session) => session.id },
  nullable: true,
  findUnique: (id, context) => ({ id, AND: [reachableSessions(callerOf(context))] }),
  fields: (t) => ({
    user: t.relation('user', { nullable: true, description: 'Whose sign-in it is.' }),
    method: t.field({
      type: SessionMethodEnum,
      description: 'How its person signed in.',
      resolve: (session) => session.method as SessionMethod,
    }),
    embedded: t.exposeBoolean('embedded', { description: 'An embedded meeting client: participant power only.' }),
    isCurrent: t.boolean({
      ...perViewer('Whether this very request came with it.'),
      resolve: (session, _args, { caller }) => caller?.kind === 'session' && caller.sessionId === session.id,
    }),
    ip: t.string({
      nullable: true,
      ...perViewer('As first seen; shown to oneself.'),
      resolve: (session, _args, { caller }) => (seesOrigin(caller, session) ? session.ip : null),
    }),
    userAgent: t.string({
      nullable: true,
      ...perViewer('As first seen; shown to oneself.'),
      resolve: (session, _args, { caller }) => (seesOrigin(caller, session) ? session.userAgent : null),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When its person signed in.' }),
    lastSeenAt: t.expose('lastSeenAt', {
      type: 'DateTime',
      description: 'Moves once a minute at most, and on no query.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'A fixed end, where it has one.',
    }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was ended; it holds no longer.',
    }),
    revokeReason: t.field({
      type: SessionRevokeReasonEnum,
      nullable: true,
      description: 'Why it was ended, where it was.',
      resolve: (session) => session.revokeReason as 'logout' | RevokeReason | null,
    }),
  }),
})

export const [SessionConnection, SessionEdge] = connectionType('Session', 'Session')

/** The token and the secret exist in this answer alone. */
export const signedIn = (t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, SignedIn>): FieldMap => ({
  session: t.prismaField({
    type: 'Session',
    description: 'The sign-in that was made; the rest of the document runs as its person.',
    resolve: (query, { sessionId }) => prisma.session.findUniqueOrThrow({ ...query, where: { id: sessionId } }),
  }),
  token: t.exposeString('token', { nullable: true, description: 'Of a BEARER session; shown this once.' }),
  csrfToken: t.exposeString('csrfToken', {
    nullable: true,
    description: 'Of a COOKIE session: what the cookie `moothall_csrf` says too.',
  }),
})

export const delivery = arg.enum(SessionDeliveryEnum).optional().describe('COOKIE when left out.')

mutation('sessionCreateAnonymous', {
  description:
    'Makes an anonymous person of an org that allows them and signs them in. They reach rooms only. At most 30 per ' +
    'address in 10 minutes.',
  input: {
    orgSlug: arg.text({ max: 64 }).describe('The org to take part in.'),
    displayName: arg.text({ max: 64 }).describe('What others in a room see.'),
    delivery,
  },
  errors: [LimitReachedError],
  needs: 'anyone',
  operations: 'own',
  run: createAnonymousSession,
  payload: signedIn,
})

mutation('sessionCreateWithPassword', {
  description:
    'Signs a registered person in. One answer, SignInFailedError, for whatever does not fit; tries are limited by ' +
    'person and by address.',
  input: {
    email: arg.text({ max: 254 }).describe('In any case; it is compared in lower case.'),
    password: arg.exact().describe('To the letter.'),
    orgSlug: arg.text({ max: 64 }).optional().describe('The org to be active in; the one used last when left out.'),
    delivery,
  },
  errors: [SignInFailedError, LimitReachedError],
  needs: 'anyone',
  operations: 'own',
  run: createSessionWithPassword,
  payload: signedIn,
})

mutation('sessionEnd', {
  description:
    'Signs out: the current session holds no longer, its streams end, its cookies go. Again, it does nothing.',
  input: {},
  needs: 'anyone',
  operations: 'own',
  run: endSession,
  payload: (t) => ({
    viewer: t.field({ type: ViewerType, description: 'Nobody, from here on.', resolve: () => viewer }),
  }),
})

mutation('sessionRevoke', {
  description:
    'Ends a session of one’s own, or, for admins, one that is active in their org; an admin key ends none of an owner. ' +
    'Again, it does nothing.',
  input: { id: arg.id('Session').describe('The session to end.') },
  needs: 'standing',
  operations: 'own',
  run: revokeSession,
  payload: (t) => ({
    session: t.prismaField({
      type: 'Session',
      nullable: true,
      description: 'As it is now; null when it was the current one.',
      resolve: (query, { sessionId }, _args, { caller }) =>
        prisma.session.findFirst({
          ...query,
          where: { AND: [{ id: sessionId }, caller ? reachableSessions(caller) : NO_ROWS] },
        }),
    }),
  }),
})

mutation('sessionEndAll', {
  description: 'Ends all of one’s own sessions, in every org.',
  input: {
    exceptCurrent: arg.boolean().optional().describe('Whether the current one is spared; false when left out.'),
  },
  needs: 'human',
  operations: 'own',
  run: endAllSessions,
  payload: (t) => ({ ended: t.exposeInt('ended', { description: 'How many held until now.' }) }),
})

mutation('sessionSwitchOrg', {
  description:
    'Makes another org that one is a member of the active one. Streams of the old org end. Works without standing in the ' +
    'present one; not for anonymous people, guests and embedded sessions.',
  input: { orgId: arg.id('Org').describe('One of `viewer.orgs`.') },
  needs: 'signedIn',
  operations: 'own',
  run: switchOrg,
  payload: (t) => ({
    viewer: t.field({ type: ViewerType, description: 'Oneself there.', resolve: () => viewer }),
  }),
})
