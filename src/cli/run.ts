import { parseArgs } from 'node:util'
import { ConfigError } from '../config.ts'
import { DatabaseRefusedError } from '../db/database.ts'
import { EmbeddedError } from '../db/embedded-error.ts'
import { MigrationError } from '../db/migrate.ts'
import { fromDatabase } from '../graphql/database-errors.ts'
import { DomainError, InvalidInputError } from '../graphql/errors.ts'
import { redactText } from '../lib/redact.ts'
import { type Command, RefusedError, type Terminal, UsageError, type Values } from './command.ts'

type Entry = { usage: string; does: string; load: () => Promise<{ command: Command }> }

/** Each is loaded when it is called, so that `migrate` does not wait for the schema. */
const COMMANDS: Record<string, Entry> = {
  start: { usage: '', does: 'Serves.', load: () => import('./start.ts') },
  migrate: {
    usage: '[--status | --roles]',
    does: 'Applies what is pending; --status only tells, --roles prints the SQL that makes the two roles.',
    load: () => import('./migrate.ts'),
  },
  doctor: {
    usage: '',
    does: 'Tells whether the database is as the server needs it.',
    load: () => import('./doctor.ts'),
  },
  'org create': {
    usage: '--slug SLUG --name NAME --owner-email EMAIL [--allow-anonymous]',
    does: 'Makes an org. An owner who is new gets a password, printed once.',
    load: () => import('./org-create.ts'),
  },
  'user create': {
    usage: '--org SLUG --email EMAIL --role ROLE --name NAME',
    does: 'Makes somebody a member: owner, admin, member or viewer. Who is new gets a password, printed once.',
    load: () => import('./user-create.ts'),
  },
  'key create': {
    usage: '--org SLUG (--agent NAME | --admin) --name NAME [--scopes LIST] [--expires INSTANT]',
    does: 'Makes a key of an agent, which reads unless scopes are given, or an admin key; printed once.',
    load: () => import('./key-create.ts'),
  },
  'key revoke': {
    usage: '--org SLUG --prefix PREFIX',
    does: 'Ends a key at once; PREFIX is what stands behind mh_live_ or mh_test_, eight characters.',
    load: () => import('./key-revoke.ts'),
  },
  'keys rewrap': {
    usage: '',
    does: 'Seals what is encrypted under the current key.',
    load: () => import('./keys-rewrap.ts'),
  },
  'org purge': {
    usage: '--slug SLUG --confirm SLUG',
    does: 'Ends an archived org for good, with all it holds.',
    load: () => import('./org-purge.ts'),
  },
  'user disable': {
    usage: 'ID_OR_EMAIL',
    does: 'Signs somebody out and lets them in nowhere any more.',
    load: () => import('./user-disable.ts'),
  },
  'user enable': { usage: 'ID_OR_EMAIL', does: 'Lets them in again.', load: () => import('./user-enable.ts') },
  'user erase': {
    usage: 'ID_OR_EMAIL',
    does: 'Takes from a person what says who they are, for good; what they wrote stays.',
    load: () => import('./user-erase.ts'),
  },
  'user delete': {
    usage: 'ID',
    does: 'Deletes a person whom nothing names; else tells what does.',
    load: () => import('./user-delete.ts'),
  },
  'waitlist list': {
    usage: '',
    does: 'Who asked to be let in, the longest waiting first.',
    load: () => import('./waitlist-list.ts'),
  },
  'waitlist remove': { usage: 'EMAIL', does: 'Forgets that they asked.', load: () => import('./waitlist-remove.ts') },
  'export org': {
    usage: '--org SLUG --out DIR',
    does: 'Writes what an org has, but secrets and what is personal, to a folder.',
    load: () => import('./export-org.ts'),
  },
  'export audit': {
    usage: '--org SLUG --out DIR',
    does: 'Writes the audit log of an org to a folder.',
    load: () => import('./export-audit.ts'),
  },
}

export const DONE = 0
export const REFUSED = 1
export const USAGE = 2

/** Runs one command line and returns the exit code (PLAT-80). */
export async function run(args: readonly string[]): Promise<number> {
  const json = args.includes('--json')
  try {
    const { name, rest } = split(args)
    const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
    if (!entry) return help(name)
    const { command } = await entry.load()
    const values = parse(command, rest, usageOf(name))
    if (values['help'] === true) process.stdout.write(`${usageOf(name)}\n    ${entry.does}\n`)
    else await command.run(values, terminal(json))
    return DONE
  } catch (error) {
    return report(error, json)
  }
}

/** `org create --slug x` is the command `org create` with what follows. */
function split(args: readonly string[]): { name: string; rest: string[] } {
  for (const words of [2, 1]) {
    const name = args.slice(0, words).join(' ')
    if (Object.hasOwn(COMMANDS, name)) return { name, rest: args.slice(words) }
  }
  return { name: args.filter((arg) => !arg.startsWith('-')).join(' '), rest: [] }
}

function parse({ options, argument }: Command, args: string[], usage: string): Values {
  const common = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const
  try {
    const allowPositionals = argument !== undefined
    const { values, positionals } = parseArgs({ args, options: { ...options, ...common }, allowPositionals })
    if (positionals.length > 1) throw new Error(`There is one ${argument} too many.`)
    return { ...values, ...(argument && { [argument]: positionals[0] }) } as Values
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\nUsage: ${usage}`)
  }
}

const usageOf = (name: string) => `moothall ${name} ${COMMANDS[name]?.usage}`.trimEnd()

function help(name: string): number {
  const lines = Object.entries(COMMANDS).map(([command, { does }]) => `  ${usageOf(command)}\n      ${does}\n`)
  const words = `Commands, each with --json and --help:\n${lines.join('')}`
  const asked = name === '' || name === 'help'
  if (asked) process.stdout.write(words)
  else process.stderr.write(`There is no command ${name}.\n${words}`)
  return asked ? DONE : USAGE
}

function terminal(json: boolean): Terminal {
  return {
    json,
    print: (words, object) => process.stdout.write(`${json ? JSON.stringify(object) : words}\n`),
    note: (words) => json || process.stderr.write(`${words}\n`),
  }
}

/** Errors made for the operator are shown as they are; what is left may hold anything, so it is cleared of secrets. */
function report(error: unknown, json: boolean): number {
  const { code, message } = described(fromDatabase(error) ?? error)
  process.stderr.write(`${json ? JSON.stringify({ error: { code, message } }) : message}\n`)
  return error instanceof UsageError ? USAGE : REFUSED
}

const FOR_OPERATORS = [ConfigError, DatabaseRefusedError, EmbeddedError, MigrationError]

function described(error: unknown): { code: string; message: string } {
  if (error instanceof UsageError) return { code: 'USAGE', message: error.message }
  if (error instanceof InvalidInputError) return { code: error.code, message: issuesOf(error) }
  if (error instanceof RefusedError || error instanceof DomainError) return { code: error.code, message: error.message }
  if (FOR_OPERATORS.some((type) => error instanceof type)) return { code: 'REFUSED', message: (error as Error).message }
  const { message, code } = error as Error & { code?: string }
  return { code: 'INTERNAL', message: `It failed: ${redactText(message || code || 'no reason given')}` }
}

const issuesOf = ({ issues }: InvalidInputError) =>
  issues.map(({ path, message }) => `${path.slice(1).join('.')} ${message}.`).join(' ')
