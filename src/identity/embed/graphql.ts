import { prisma } from '../../db/prisma.ts'
import { arg } from '../../graphql/arguments.ts'
import { mutation } from '../../graphql/mutation.ts'
import { ViewerType, viewer } from '../viewer/viewer-type.ts'
import { bindHandoff } from './bind-handoff.ts'
import { EmbedPending } from './pending.ts'
import { redeemHandoff } from './redeem-handoff.ts'
import { startHandoff } from './start-handoff.ts'

const challenge = arg
  .exact(64)
  .describe("SHA-256 of the verifier's 32 bytes, in base64url without padding: 43 characters.")

mutation('embedHandoffStart', {
  description:
    'Begins to sign in inside a meeting client that cannot do so by itself: the frame keeps a verifier of 32 random ' +
    'bytes, shows the code, and asks `embedHandoffRedeem` until somebody who is signed in elsewhere has bound it. Lives ' +
    '5 minutes; at most 10 open per address.',
  input: {
    challenge,
    provider: arg.text({ max: 32 }).describe('The meeting client; one that the server is set up for.'),
  },
  needs: 'anyone',
  operations: 'own',
  run: startHandoff,
  payload: (t) => ({
    displayCode: t.exposeString('displayCode', {
      description: 'To be shown to whoever binds it: 6 characters of `23456789ABCDEFGHJKMNPQRSTVWXYZ`.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it is over.' }),
  }),
})

mutation('embedHandoffBind', {
  description:
    'Lets the frame that shows the code become the caller, in the active org. Once; the fifth wrong code ends the ' +
    'hand-off.',
  input: {
    challenge,
    code: arg.text({ max: 16 }).describe('What the frame shows; in any case.'),
  },
  needs: 'person',
  operations: 'own',
  run: bindHandoff,
  payload: (t) => ({
    viewer: t.field({ type: ViewerType, description: 'Whom the frame becomes.', resolve: () => viewer }),
  }),
})

mutation('embedHandoffRedeem', {
  description:
    'Turns a bound hand-off into a session with participant power that ends 12 hours later. Once. EmbedPending while ' +
    'nobody has bound it.',
  input: {
    verifier: arg.exact(64).describe('The 32 bytes that the challenge was made of, in base64url without padding.'),
  },
  outcomes: [EmbedPending],
  needs: 'anyone',
  operations: 'own',
  run: redeemHandoff,
  payload: (t) => ({
    session: t.prismaField({
      type: 'Session',
      description: 'The sign-in that was made; the rest of the document runs as its person.',
      resolve: (query, { sessionId }) => prisma.session.findUniqueOrThrow({ ...query, where: { id: sessionId } }),
    }),
    token: t.exposeString('token', {
      nullable: true,
      description: 'Sent as `Authorization: Bearer …`; shown this once.',
    }),
  }),
})
