import './space/graphql.ts'
import './room/graphql.ts'
import './story/graphql.ts'
