/** Room between two stories, so that many moves fit before all have to be numbered anew (ROOM-59). */
const STEP = 1024
const MIN_GAP = 1e-6

export type Placed = { id: string; position: number }

/** Where a new story goes: after the last one. */
export const appendedPosition = (last: number | null): number => (last ?? 0) + STEP

/** One story's new position, all positions of the room, or null: it stands there already. */
export type Move = { position: number } | { positions: Placed[] } | null

/** Moves a story behind another one, or to the front (null). `stories` are all of the room in order; both must be among them. */
export function planMove(stories: readonly Placed[], storyId: string, afterId: string | null): Move {
  const from = stories.findIndex((story) => story.id === storyId)
  const others = stories.toSpliced(from, 1)
  const to = afterId === null ? 0 : others.findIndex((story) => story.id === afterId) + 1
  if (from < 0 || (afterId !== null && to === 0 && afterId !== storyId))
    throw new RangeError('no such story in the room')
  if (to === from || afterId === storyId) return null

  const position = positionBetween(others[to - 1]?.position ?? null, others[to]?.position ?? null)
  return position === null ? { positions: renumber(others.toSpliced(to, 0, stories[from]!)) } : { position }
}

/** The midpoint of two neighbours, or a step beyond the end; null where there is no room left. */
export function positionBetween(before: number | null, after: number | null): number | null {
  if (before === null) return after === null ? STEP : roomFor(after - STEP, null, after)
  if (after === null) return roomFor(before + STEP, before, null)
  return after - before < MIN_GAP ? null : roomFor(before + (after - before) / 2, before, after)
}

/** A double far from zero, or between close ones, may be no other than its neighbour. */
function roomFor(position: number, before: number | null, after: number | null): number | null {
  const fits = Number.isFinite(position) && position !== before && position !== after
  return fits ? position : null
}

const renumber = (stories: readonly Placed[]): Placed[] =>
  stories.map(({ id }, index) => ({ id, position: (index + 1) * STEP }))
