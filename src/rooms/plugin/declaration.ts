import { z } from 'zod'
import { compileSchema, UnfitSchemaError } from './json-schema.ts'
import { readState } from './state.ts'

const BYTES_MAX = 65_536
const name = z.string().regex(/^[a-z][A-Za-z0-9_.-]{0,63}$/, 'is no name')
const phases = z.array(name).min(1).max(32)

const shape = z.strictObject({
  phases,
  initial: name,
  actions: z.record(
    name,
    z.strictObject({
      who: z.enum(['host', 'member', 'participant']),
      phases,
      input: z.record(z.string(), z.unknown()),
      to: name.optional(),
    }),
  ),
})

/** What can be done in rooms of a kind, and when (ROOM-160). */
export type Declaration = z.infer<typeof shape>
export type Action = Declaration['actions'][string]

/** A kind as a plugin declares it. */
export type DeclaredKind = {
  readonly kind: string
  /** For people. */
  readonly display: string
  /** In the shape of `Declaration`. */
  readonly declaration: unknown
  /** The two that stay in the package, to be checked with the rest. */
  readonly configSchema: unknown
  readonly initialState: unknown
}

/** A kind that cannot be had, so the plugin that declares it is refused. */
export class UnfitKindError extends Error {
  override readonly name = 'UnfitKindError'
  readonly kind: string
  readonly problem: string
  constructor(kind: string, problem: string) {
    super(`${kind}: ${problem}`)
    this.kind = kind
    this.problem = problem
  }
}

/** Checks all of a declared kind that it alone can break. */
export function readKind({ kind, display, declaration, configSchema, initialState }: DeclaredKind): Declaration {
  const refuse = (problem: string): never => {
    throw new UnfitKindError(kind, problem)
  }
  if (!/^[a-z][a-z0-9_.-]{0,63}$/.test(kind)) refuse('its name is no name of a kind')
  if (display.length === 0 || [...display].length > 64) refuse('what it is called has 1 to 64 characters')
  const read = shape.safeParse(declaration)
  if (!read.success) {
    const [issue] = read.error.issues
    return refuse(`${issue?.path.join('.')} ${issue?.message}`)
  }
  const { phases, initial, actions } = read.data
  if (new Set(phases).size < phases.length) refuse('a phase is there twice')
  if (phases.at(-1) !== 'done') refuse('its last phase is not `done`')
  if (!phases.includes(initial) || initial === 'done') refuse('it does not begin in one of its phases')
  for (const [action, { phases: when, input, to }] of Object.entries(actions)) {
    for (const phase of [...when, ...(to === undefined ? [] : [to])]) {
      if (!phases.includes(phase)) refuse(`the action ${action} names a phase that there is not`)
    }
    if (when.includes('done')) refuse(`the action ${action} is for rooms that have ended`)
    requireSchema(kind, `the input of ${action}`, input)
  }
  if (Buffer.byteLength(JSON.stringify(read.data)) > BYTES_MAX / 2) refuse('it is bigger than 32 KiB')
  requireSchema(kind, 'its config', configSchema)
  if (!readState(initialState, new Set())) refuse('its first state is none, or somebody has a part of it')
  return read.data
}

function requireSchema(kind: string, what: string, schema: unknown): void {
  try {
    compileSchema(schema)
  } catch (error) {
    if (error instanceof UnfitSchemaError) throw new UnfitKindError(kind, `${what} ${error.message}`)
    throw error
  }
}
