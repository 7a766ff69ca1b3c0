import { arg, argumentsOf } from '../../graphql/arguments.ts'
import { builder } from '../../graphql/builder.ts'
import { enumOf } from '../../graphql/enums.ts'
import { LimitReachedError } from '../../graphql/errors.ts'
import { mutation } from '../../graphql/mutation.ts'
import { SignInFailedError } from '../session/errors.ts'
import { delivery, signedIn } from '../session/graphql.ts'
import { createSessionWithCode } from './create-session-with-code.ts'
import { createSessionWithToken } from './create-session-with-token.ts'
import { type LoginTokenPreview, previewLoginToken } from './preview-token.ts'
import { requestLogin } from './request-login.ts'

const LoginTokenPurposeEnum = enumOf('LoginTokenPurpose', 'What a mailed link is for.', {
  sign_in: 'To sign in as a member of the org.',
  invite: 'To join the org.',
})

const LoginTokenPreviewType = builder.objectRef<LoginTokenPreview>('LoginTokenPreview').implement({
  description: 'What a mailed link would do.',
  fields: (t) => ({
    orgName: t.exposeString('orgName', { description: 'The org that one would be signed in to.' }),
    purpose: t.field({
      type: LoginTokenPurposeEnum,
      description: 'To sign in, or to accept an invitation.',
      resolve: ({ purpose }) => purpose,
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'Until when it can be used.' }),
  }),
})

const previewArguments = argumentsOf({ token: arg.text({ max: 128 }).describe('What the link has behind `#token=`.') })

builder.queryField('loginTokenPreview', (t) =>
  t.field({
    type: LoginTokenPreviewType,
    nullable: true,
    description:
      'What a mailed link would do, before it is used: show it and ask. It spends nothing. Null for a link that does ' +
      'nothing, or nothing any more.',
    args: previewArguments.args,
    authScopes: { needs: 'anyone' },
    resolve: (_root, args) => previewLoginToken(previewArguments.values(args)),
  }),
)

mutation('loginRequest', {
  description:
    'Mails a link and a code to whoever may sign in with that email. The answer is the same for every email. At most ' +
    '20 per address in an hour; nobody gets more than 5 mails in an hour.',
  input: { email: arg.text({ max: 254 }).describe('In any case; it is compared in lower case.') },
  needs: 'anyone',
  operations: 'own',
  run: requestLogin,
  payload: (t) => ({
    accepted: t.boolean({
      description: 'Always true: whether there is such a person is not told.',
      resolve: () => true,
    }),
  }),
})

mutation('sessionCreateWithToken', {
  description:
    'Signs in with the token of a mailed link, or accepts the invitation that it is. It works once. One answer, ' +
    'SignInFailedError, for whatever does not fit.',
  input: { token: arg.text({ max: 128 }).describe('What the link has behind `#token=`.'), delivery },
  errors: [SignInFailedError, LimitReachedError],
  needs: 'anyone',
  operations: 'own',
  run: createSessionWithToken,
  payload: signedIn,
})

mutation('sessionCreateWithCode', {
  description:
    'Signs in with the six digits of the newest sign-in mail, in place of its link. The fifth wrong code ends both. One ' +
    'answer, SignInFailedError, for whatever does not fit; tries are limited by person and by address.',
  input: {
    email: arg.text({ max: 254 }).describe('In any case; it is compared in lower case.'),
    code: arg.text({ max: 32 }).describe('Six digits; blanks and hyphens between them do not count.'),
    delivery,
  },
  errors: [SignInFailedError, LimitReachedError],
  needs: 'anyone',
  operations: 'own',
  run: createSessionWithCode,
  payload: signedIn,
})
