import { builder } from '../../graphql/builder.ts'
import type { CostBudget } from '../../graphql/context.ts'

const RateLimitType = builder.objectRef<CostBudget & { cost: number }>('RateLimit').implement({
  description: 'What the caller may still ask for this minute. Also in `extensions.cost` of every answer.',
  fields: (t) => ({
    limit: t.exposeInt('limit', { description: 'Cost a minute of one actor.' }),
    cost: t.exposeInt('cost', { description: 'Cost of this document.' }),
    remaining: t.exposeInt('remaining', { description: 'What is left after this document.' }),
    resetAt: t.field({
      type: 'DateTime',
      description: 'When all of it is back.',
      resolve: ({ resetAt }) => resetAt.toISOString(),
    }),
  }),
})

builder.queryField('rateLimit', (t) =>
  t.field({
    type: RateLimitType,
    description: "The caller's budget of query cost.",
    authScopes: { needs: 'anyone' },
    resolve: (_root, _args, { cost }) => {
      if (!cost?.budget) throw new Error('the cost of the document was not counted')
      return { ...cost.budget, cost: cost.requested }
    },
  }),
)
