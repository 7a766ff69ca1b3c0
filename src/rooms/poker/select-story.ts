import type { UserCaller } from '../../graphql/caller.ts'
import { NotFoundError } from '../../graphql/errors.ts'
import { change, noChange, type RoomChange } from '../room/change.ts'
import { lockRoom, requireHost } from '../room/lock-room.ts'
import { findStory } from '../story/find-story.ts'
import { timerStoppedStep } from '../timer/steps.ts'
import { requireActivePoker } from './access.ts'
import { openRound, withStory } from './open-round.ts'
import { revealIfComplete } from './reveal-if-complete.ts'

export type SelectStory = { roomId: string; storyId?: string | null | undefined }

/**
 * Puts a story on the table, or clears it (ROOM-64). All votes of all stories stay: a revealed story comes back revealed,
 * one with hidden votes hidden with them, and complete if the one it waited for has left meanwhile.
 */
export async function selectStory(caller: UserCaller, { roomId, storyId = null }: SelectStory): Promise<RoomChange> {
  const room = await lockRoom(caller, roomId)
  requireHost(caller, room)
  requireActivePoker(room)
  if (storyId === room.currentStoryId) return noChange(room)

  const story = storyId === null ? null : await findStory(room, storyId)
  if (storyId !== null && story === null) throw new NotFoundError('storyId')

  const next = withStory(room, story)
  const opened = await openRound(next)
  return change(caller, room, [...timerStoppedStep(room), opened, ...(await revealIfComplete(next))])
}
