const FIRST_PHASE: Record<string, string> = { poker: 'active', standup: 'gather' }

/** The phase in which a room of a kind begins, and begins again when it is reopened. */
export function firstPhase(kind: string): string {
  const phase = FIRST_PHASE[kind]
  if (!phase) throw new TypeError(`a ${kind} cannot be played yet`)
  return phase
}
