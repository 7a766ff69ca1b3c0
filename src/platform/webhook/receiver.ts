import { invalidInput } from '../../graphql/errors.ts'
import { EgressError } from '../../lib/egress/errors.ts'
import { webhookSettings } from './settings.ts'

/** The address as it is kept. Its name is looked up, so this goes outside operations (PLAT-47). */
export async function requireReceiver(text: string): Promise<string> {
  const url = await webhookSettings()
    .egress.check(text)
    .catch((error: unknown) => {
      if (error instanceof EgressError) throw invalidInput('url', 'names an address that is not allowed')
      throw error
    })
  if (!url) throw invalidInput('url', 'must be an https address without credentials and fragment')
  return url.href
}
