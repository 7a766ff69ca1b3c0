import { mutation } from '../../graphql/mutation.ts'
import { ViewerType, viewer } from '../viewer/viewer-type.ts'
import { unlinkOidc } from './unlink-oidc.ts'

mutation('viewerUnlinkOidc', {
  description:
    'Takes the identity of the OpenID Connect provider off oneself. ConflictError when neither a password nor a verified ' +
    'email would remain. Again, it does nothing.',
  input: {},
  needs: 'person',
  run: unlinkOidc,
  payload: (t) => ({
    viewer: t.field({ type: ViewerType, description: 'Oneself, as changed.', resolve: () => viewer }),
  }),
})
