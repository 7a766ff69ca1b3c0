import { ForbiddenError } from '../../graphql/errors.ts'
import { signInSettings } from './settings.ts'

/** Where the operator has switched it off, or there is no mail to carry it (PLAT-75, 78). */
export function requireLinkSignIn(): void {
  if (!signInSettings().linkSignIn) throw new ForbiddenError('Signing in by link and code is switched off.')
}
