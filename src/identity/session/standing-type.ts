import { builder } from '../../graphql/builder.ts'
import { STANDINGS } from '../../graphql/caller.ts'

export const StandingEnum = builder.enumType('Standing', {
  description: 'How far a caller reaches in an org (ID-2).',
  values: STANDINGS,
})
