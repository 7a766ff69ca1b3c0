import { STANDINGS } from '../../graphql/caller.ts'
import { enumOf } from '../../graphql/enums.ts'

export const StandingEnum = enumOf('Standing', 'How far a caller reaches in an org (ID-2).', STANDINGS)
