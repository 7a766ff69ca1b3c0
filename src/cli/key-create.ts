import { KEY_SCOPES, type KeyScope } from '../graphql/caller.ts'
import { encodeId } from '../graphql/ids.ts'
import { createKeyAsOperator } from '../identity/index.ts'
import { isInstant } from '../lib/instant.ts'
import { type Command, required, UsageError, type Values } from './command.ts'
import { withDatabase } from './with-database.ts'

const OF_AGENTS = KEY_SCOPES.filter((scope) => scope !== 'admin')
/** What an agent's key is good for when nothing is said: reading. */
const READING = OF_AGENTS.filter((scope) => scope.endsWith(':read'))

/** Makes a key of an agent, or an admin key; it is shown this once (ID-52). */
export const command: Command = {
  options: {
    org: { type: 'string' },
    agent: { type: 'string' },
    admin: { type: 'boolean' },
    name: { type: 'string' },
    scopes: { type: 'string' },
    expires: { type: 'string' },
  },
  async run(values, terminal) {
    const [orgSlug, name] = [required(values, 'org'), required(values, 'name')]
    const agent = agentOf(values)
    const scopes = scopesOf(values, agent)
    const expiresAt = expiryOf(values)
    const { keyId, key } = await withDatabase(() => createKeyAsOperator({ orgSlug, agent, name, scopes, expiresAt }), {
      peppers: true,
    })
    const shown = { id: encodeId('ApiKey', keyId), key, scopes: agent === null ? ['admin'] : scopes }
    terminal.print([`Key       ${key}`, `Id        ${shown.id}`, `Scopes    ${shown.scopes.join(' ')}`].join('\n'), {
      apiKey: shown,
    })
  },
}

function agentOf(values: Values): string | null {
  const admin = values['admin'] === true
  if (admin === (values['agent'] !== undefined)) throw new UsageError('Either --agent NAME or --admin must be given.')
  return admin ? null : required(values, 'agent')
}

function scopesOf({ scopes }: Values, agent: string | null): readonly KeyScope[] {
  if (typeof scopes !== 'string') return agent === null ? [] : READING
  if (agent === null) throw new UsageError('An admin key takes no --scopes.')
  const asked = scopes.split(',')
  if (!asked.every((scope) => (OF_AGENTS as readonly string[]).includes(scope))) {
    throw new UsageError(`--scopes are of ${OF_AGENTS.join(',')}.`)
  }
  return asked as KeyScope[]
}

function expiryOf({ expires }: Values): string | undefined {
  if (expires === undefined) return undefined
  if (!isInstant(expires)) throw new UsageError('--expires is an instant such as 2027-01-01T00:00:00Z.')
  return expires as string
}
