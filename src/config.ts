import { z } from 'zod'

const UNITS = { ms: 1, s: 1_000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const
const BYTES = { B: 1, KiB: 1_024, MiB: 1_048_576 } as const

/** A duration such as `15s` or `14d`, in milliseconds. */
const duration = (fallback: string) =>
  z
    .string()
    .regex(/^\d+(ms|s|m|min|h|d)$/)
    .default(fallback)
    .transform((text) => Number.parseInt(text, 10) * UNITS[text.replace(/^\d+/, '') as keyof typeof UNITS])

/** A size such as `1MiB`, in bytes. */
const bytes = (fallback: string) =>
  z
    .string()
    .regex(/^\d+(B|KiB|MiB)$/)
    .default(fallback)
    .transform((text) => Number.parseInt(text, 10) * BYTES[text.replace(/^\d+/, '') as keyof typeof BYTES])

const int = (fallback: number, min: number, max: number) =>
  z.string().regex(/^\d+$/).default(String(fallback)).transform(Number).pipe(z.number().int().min(min).max(max))

const flag = (fallback: boolean) =>
  z
    .enum(['true', 'false'])
    .default(fallback ? 'true' : 'false')
    .transform((text) => text === 'true')

const postgresUrl = z.union([z.literal(''), z.url({ protocol: /^postgres(ql)?$/ })]).default('')
const redisUrl = z.union([z.literal(''), z.url({ protocol: /^rediss?$/ })]).default('')
const ranges = z
  .string()
  .default('')
  .transform((text) => (text === '' ? [] : text.split(',').map((range) => range.trim())))
  .pipe(z.array(z.union([z.cidrv4(), z.cidrv6()])))
const origins = z
  .string()
  .default('')
  .transform((text) => (text === '' ? [] : text.split(',').map((origin) => origin.trim())))
  .pipe(z.array(z.url({ protocol: /^https?$/ }).refine((origin) => new URL(origin).origin === origin)))

/** `https:` anywhere, or `http:` on this machine: secrets and identities travel there. */
const issuer = z
  .string()
  .default('')
  .refine((text) => text === '' || /^https:\/\/|^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:|\/|$)/.test(text))
  .refine((text) => text === '' || (URL.canParse(text) && !/[?#]/.test(text)))
/** `slug:role`: whom a provider vouches for becomes that in that org. */
const autoJoin = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{1,38}[a-z0-9]:(member|viewer)$|^$/)
  .default('')
  .transform((text) => {
    const [orgSlug, role] = text.split(':')
    return orgSlug && role ? { orgSlug, role: role as 'member' | 'viewer' } : null
  })
const names = z
  .string()
  .default('')
  .transform((text) => (text === '' ? [] : text.split(',').map((name) => name.trim())))
  .pipe(z.array(z.string().regex(/^[\x21-\x7e]{1,32}$/)))

/**
 * Every variable the server reads, with its default (PLAT-76 to 79, as far as used). `.env.example` is printed from
 * this object, so a variable cannot exist without standing there.
 */
export const VARIABLES = {
  HOST: z.string().min(1).default('127.0.0.1').describe('Address to listen on.'),
  PORT: int(4000, 0, 65_535).describe('Port to listen on; 0 takes a free one.'),
  NODE_ENV: z
    .enum(['development', 'production', 'test'])
    .default('development')
    .describe('development, test or production, which needs secrets set.'),
  MOOTHALL_PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .default('http://localhost:4000')
    .describe('Where browsers reach the server; with PORT alone, that port; https makes cookies Secure.'),
  MOOTHALL_FRONTEND_URL: z
    .union([z.literal(''), z.url({ protocol: /^https?$/ })])
    .default('')
    .describe('Where links in mails and texts lead; empty: the public address.'),
  MOOTHALL_TRUST_PROXY: int(0, 0, 10).describe('Proxies in front whose x-forwarded-for is believed.'),
  MOOTHALL_CORS_ORIGINS: origins.describe('Other origins that may call with credentials, comma-separated.'),
  MOOTHALL_LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('trace, debug, info, warn, error or silent.'),
  MOOTHALL_METRICS_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{16,}$|^$/)
    .default('')
    .describe('Bearer token of /metrics, 16 characters or more; empty: only this machine may read it.'),
  MOOTHALL_DRAIN_DELAY: duration('2s').describe('How long /readyz says 503 before new connections are refused.'),
  MOOTHALL_DRAIN_TIMEOUT: duration('25s').describe('How long running requests are awaited on SIGTERM.'),
  MOOTHALL_GRAPHIQL: flag(true).describe('Serve GraphiQL at /graphql.'),
  MOOTHALL_MAX_SOCKETS_PER_ACTOR: int(20, 1, 10_000).describe('Open WebSockets per person, agent or admin key.'),
  MOOTHALL_MAX_STREAMS_PER_ACTOR: int(200, 1, 100_000).describe('Open subscriptions per person, agent or admin key.'),
  DATABASE_URL: postgresUrl.describe('PostgreSQL 16 to 18 as moothall_app; empty starts the embedded server.'),
  DATABASE_MIGRATE_URL: postgresUrl.describe('The same database as moothall_owner, for migrations.'),
  DATABASE_LISTEN_URL: postgresUrl.describe('For LISTEN; must bypass transaction pooling. Default DATABASE_URL.'),
  REDIS_URL: redisUrl.describe(
    'Carries live hints between many servers and counts sign-in attempts; empty: PostgreSQL does.',
  ),
  MOOTHALL_DATA_DIR: z.string().min(1).default('.moothall').describe('Embedded database and generated secrets.'),
  MOOTHALL_DATABASE_POOL: int(10, 1, 1_000).describe('Database connections per process.'),
  MOOTHALL_DATABASE_POOL_WAIT: duration('5s').describe('Longest wait for a free connection, then OVERLOADED.'),
  MOOTHALL_DATABASE_PREPARED: flag(true).describe('Named prepared statements; off for PgBouncer before 1.21.'),
  MOOTHALL_STATEMENT_TIMEOUT: duration('15s').describe('Longest single statement.'),
  MOOTHALL_AUTO_MIGRATE: flag(true).describe('Migrate at start; off refuses to start while migrations are pending.'),
  MOOTHALL_ENCRYPTION_KEYS: z
    .string()
    .regex(/^[\w-]{1,64}:[A-Za-z0-9+/]{43}=(,[\w-]{1,64}:[A-Za-z0-9+/]{43}=)*$|^$/)
    .refine((keys) => new Set(keys.split(',').map((key) => key.split(':')[0])).size === keys.split(',').length)
    .default('')
    .describe('id:base64 of 32 bytes, first is current; made once in the data directory outside production.'),
  MOOTHALL_KMS_KEY_ID: z
    .string()
    .regex(/^[\w:/.-]{0,200}$/)
    .default('')
    .describe('Key of AWS KMS that encrypts instead; those of MOOTHALL_ENCRYPTION_KEYS then only decrypt.'),
  MOOTHALL_KEY_PEPPERS: z
    .string()
    .regex(/^\d+:[A-Za-z0-9+/=]{24,}(,\d+:[A-Za-z0-9+/=]{24,})*$|^$/)
    .default('')
    .describe('number:base64 of 18 bytes or more, newest first; made once in the data directory outside production.'),
  MOOTHALL_SESSION_IDLE_TTL: duration('14d').describe('A sign-in unused for this long ends.'),
  MOOTHALL_SESSION_MAX_TTL: duration('30d').describe('A sign-in ends after this, whatever its use.'),
  MOOTHALL_PASSWORD_SIGN_IN: flag(true).describe('Allow signing in by password.'),
  MOOTHALL_LINK_SIGN_IN: flag(true).describe('Allow signing in by mailed link and code; in production it needs SMTP.'),
  MOOTHALL_SMTP_URL: z
    .union([z.literal(''), z.url({ protocol: /^smtps?$/ })])
    .default('')
    .describe('Mail server, smtp: or smtps:; without one mails are printed to the log, and in production not sent.'),
  MOOTHALL_MAIL_FROM: z
    .string()
    .regex(/^[^\p{C}]{0,320}$/u)
    .default('')
    .describe('Sender of mails, such as Moothall <moothall@example.org>; goes with MOOTHALL_SMTP_URL.'),
  MOOTHALL_OIDC_ISSUER: issuer.describe('Issuer of an OpenID Connect provider to sign in with; empty: none.'),
  MOOTHALL_OIDC_CLIENT_ID: z.string().default('').describe('Our client there; its redirect is /auth/oidc/callback.'),
  MOOTHALL_OIDC_CLIENT_SECRET: z.string().default('').describe('Empty for a public client; PKCE is used either way.'),
  MOOTHALL_OIDC_AUTO_JOIN: autoJoin.describe('slug:role, member or viewer: what somebody new becomes; empty: nobody.'),
  MOOTHALL_EMBED_PROVIDERS: names.describe('Meeting clients that may embed us, comma-separated; empty: none.'),
  MOOTHALL_ORG_CREATE: z
    .enum(['operator', 'registered'])
    .default('operator')
    .describe('Who may create orgs: operator, on the command line alone, or registered people too.'),
  MOOTHALL_ARGON2_CONCURRENCY: int(4, 1, 64).describe('Password hashes computed at once.'),
  MOOTHALL_QUERY_MAX_COST: int(10_000, 0, 1_000_000).describe('Cost bound of one document of a signed-in caller.'),
  MOOTHALL_QUERY_MAX_DEPTH: int(15, 1, 100).describe('Nesting bound of one document.'),
  MOOTHALL_QUERY_MAX_ALIASES: int(30, 0, 1_000).describe('Alias bound of one document.'),
  MOOTHALL_QUERY_MAX_TOKENS: int(2_000, 10, 100_000).describe('Token bound of one document.'),
  MOOTHALL_BODY_MAX: bytes('1MiB').describe('Largest request body.'),
  MOOTHALL_TOOL_INVOCATION_RETENTION: duration('90d').describe('How long tool calls of agents are kept.'),
  MOOTHALL_IDEMPOTENCY_TTL: duration('24h').describe('How long an answer is kept under its idempotency key.'),
  MOOTHALL_RATE_PERSON: int(600, 1, 1_000_000).describe('Requests a minute of one person.'),
  MOOTHALL_RATE_AGENT: int(300, 1, 1_000_000).describe('Requests a minute of one agent without a rate of its own.'),
  MOOTHALL_RATE_NOBODY: int(60, 1, 1_000_000).describe('Requests a minute of one address that is not signed in.'),
  MOOTHALL_RATE_COST: int(200_000, 1, 100_000_000).describe('Query cost a minute of one actor.'),
  MOOTHALL_WEBHOOK_RETENTION: duration('30d').describe('How long webhook deliveries are kept after their end.'),
  MOOTHALL_WEBHOOK_MAX_ATTEMPTS: int(10, 1, 100).describe('Attempts at a webhook delivery before it is given up.'),
  MOOTHALL_WEBHOOK_TIMEOUT: duration('10s')
    .pipe(z.number().min(100).max(60_000))
    .describe('Longest attempt at a webhook delivery, 1m at most.'),
  MOOTHALL_EGRESS_ALLOW: ranges.describe(
    'CIDR ranges of receivers inside your network that callers may name, comma-separated; http goes to these alone.',
  ),
} as const

export type Config = { [K in keyof typeof VARIABLES]: z.output<(typeof VARIABLES)[K]> }

/** Whether browsers reach us over https: then cookies are Secure and bound to the host (ID-13). */
export const isHttps = ({ MOOTHALL_PUBLIC_URL: url }: Config): boolean => url.startsWith('https:')

export class ConfigError extends Error {
  override name = 'ConfigError'
}

/** Reads the environment once. Throws ConfigError naming the variable, never its value. */
export function readConfig(env: Record<string, string | undefined> = process.env): Config {
  const unknown = Object.keys(env).filter((name) => name.startsWith('MOOTHALL_') && !(name in VARIABLES))
  if (unknown.length > 0) throw new ConfigError(`Unknown variable ${unknown.join(', ')}.`)

  const config: Record<string, unknown> = {}
  for (const [name, type] of Object.entries(VARIABLES)) {
    const read = type.safeParse(env[name] === '' ? undefined : env[name])
    if (!read.success) throw new ConfigError(`Variable ${name} cannot be read.`)
    config[name] = read.data
  }
  // Whoever only moves the port is not to get links, origins and redirects of the old one.
  if (!env['MOOTHALL_PUBLIC_URL'] && config['PORT'] !== 0) {
    config['MOOTHALL_PUBLIC_URL'] = `http://localhost:${config['PORT']}`
  }
  requireOidcWhole(config as Config)
  requireDatabaseWhole(config as Config)
  requireMailWhole(config as Config)
  return config as Config
}

/** Addresses that go with DATABASE_URL would else be passed over in silence for the embedded server. */
function requireDatabaseWhole(config: Config): void {
  if (config.DATABASE_URL !== '') return
  for (const name of ['DATABASE_MIGRATE_URL', 'DATABASE_LISTEN_URL'] as const) {
    if (config[name] !== '') throw new ConfigError(`Variable ${name} goes with DATABASE_URL: set both or neither.`)
  }
}

function requireOidcWhole(config: Config): void {
  if ((config.MOOTHALL_OIDC_ISSUER === '') === (config.MOOTHALL_OIDC_CLIENT_ID === '')) return
  throw new ConfigError('Variable MOOTHALL_OIDC_CLIENT_ID goes with MOOTHALL_OIDC_ISSUER: set both or neither.')
}

function requireMailWhole(config: Config): void {
  if (config.MOOTHALL_SMTP_URL === '' || config.MOOTHALL_MAIL_FROM !== '') return
  throw new ConfigError('Variable MOOTHALL_MAIL_FROM goes with MOOTHALL_SMTP_URL: set it too.')
}
