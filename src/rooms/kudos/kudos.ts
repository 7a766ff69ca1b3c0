/** The columns of kudos, as the API and live events have them. */
export type KudosColumns = {
  orgId: string
  id: string
  spaceId: string
  fromUserId: string
  toUserId: string
  text: string
  roomId: string | null
  createdAt: string
}
