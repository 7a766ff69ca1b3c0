import { type Logger, type LoggerOptions, pino } from 'pino'
import type { Config } from './config.ts'
import { redactLine } from './lib/redact.ts'

/** One JSON object a line. What an error says is redacted; stacks and SQL stay out, the place in our source is named. */
export function createLog(config: Config, destination?: NodeJS.WritableStream): Logger {
  const options: LoggerOptions = {
    level: config.MOOTHALL_LOG_LEVEL,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
    hooks: { streamWrite: (line) => (plain ? line : redactLine(line)) },
  }
  return destination ? pino(options, destination) : pino(options)
}

/** Set while a line is written that is meant to show a secret. */
let plain = false

/** One line without redaction: how a mail reaches somebody who develops without a mail server. Never in production. */
export function logPlainly(log: Logger, fields: object, message: string): void {
  plain = true
  try {
    log.info(fields, message)
  } finally {
    plain = false
  }
}

/** The first of our own files, past those that every statement runs through. */
const SOURCE = /\b(src\/(?!db\/)[\w/.-]+:\d+):\d+/

/** A database error's text quotes values, so of those only the code and the names of what was touched are kept. */
function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error }
  const { code, schema, table, constraint } = error as Error & Record<string, string | undefined>
  const [, at] = SOURCE.exec(error.stack ?? '') ?? []
  const fromDatabase = error.name === 'error' || error.name.startsWith('Prisma')
  return { type: error.name, message: fromDatabase ? undefined : error.message, code, schema, table, constraint, at }
}
