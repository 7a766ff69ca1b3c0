import type { UserCaller } from '../../graphql/caller.ts'
import { ForbiddenError, invalidInput, NotFoundError } from '../../graphql/errors.ts'

/**
 * Sets the estimate of the ticket that a display id names, redirects followed, as that person and in the transaction that
 * is open. False, or a NotFoundError or ForbiddenError: there is no such ticket that they may edit.
 */
export type TicketEstimates = (
  caller: UserCaller,
  ticket: { displayId: string; estimate: string | null },
) => Promise<boolean>

let port: TicketEstimates | undefined

/** Called by whoever keeps tickets. Without it no story has one. */
export function registerTicketEstimates(estimates: TicketEstimates): void {
  port = estimates
}

/** Writes a story's estimate to its ticket too, or refuses the whole (ROOM-77). Comes last: tickets are locked after rooms (ROOM-2). */
export async function estimateTicket(caller: UserCaller, displayId: string, estimate: string | null): Promise<void> {
  const isSet = displayId !== '' && port !== undefined && (await allowed(port(caller, { displayId, estimate })))
  if (!isSet) throw invalidInput('toTicket', 'the story’s ref is no ticket that you may edit')
}

async function allowed(asked: Promise<boolean>): Promise<boolean> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof NotFoundError || error instanceof ForbiddenError) return false
    throw error
  }
}
