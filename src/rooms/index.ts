import './space/graphql.ts'
import './room/graphql.ts'
import './story/graphql.ts'
import './live/graphql.ts'

export { startRoomLive } from './live/subscribe.ts'
