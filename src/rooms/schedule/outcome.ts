/** What became of a day that a standup was scheduled for (ROOM-124 to 126). */
export const SLOT_OUTCOMES = ['opened', 'no_owner', 'missed'] as const
export type SlotOutcome = (typeof SLOT_OUTCOMES)[number]

/** Why a day has no standup. */
export const SKIP_REASONS = ['no_owner', 'missed'] as const satisfies readonly SlotOutcome[]
