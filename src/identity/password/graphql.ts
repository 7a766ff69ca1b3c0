import { arg } from '../../graphql/arguments.ts'
import { mutation } from '../../graphql/mutation.ts'
import { ViewerType, viewer } from '../viewer/viewer-type.ts'
import { setPassword } from './set-password.ts'

mutation('viewerSetPassword', {
  description:
    'Gives oneself a password: with the current one, or, where it is forgotten or there is none, within 15 minutes of ' +
    'signing in by link, by code or with OpenID Connect. All other sessions of one’s own end.',
  input: {
    password: arg.exact().describe('12 to 256 characters; not one’s email or name.'),
    currentPassword: arg.exact().optional().describe('To the letter.'),
  },
  needs: 'person',
  operations: 'own',
  run: setPassword,
  payload: (t) => ({
    viewer: t.field({ type: ViewerType, description: 'Oneself, still signed in.', resolve: () => viewer }),
  }),
})
