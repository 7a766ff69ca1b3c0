import { arg } from '../../graphql/arguments.ts'
import { mutation } from '../../graphql/mutation.ts'
import { joinWaitlist } from './join-waitlist.ts'

mutation('waitlistJoin', {
  description:
    'Asks to be let in. The operator reads the list. The answer is the same for every email. At most 20 per address in an hour.',
  input: {
    email: arg.text({ max: 254 }).describe('Where one can be reached.'),
    note: arg.text({ max: 500 }).optional().describe('Anything the operator should know.'),
  },
  needs: 'anyone',
  operations: 'own',
  run: joinWaitlist,
  payload: (t) => ({
    accepted: t.boolean({
      description: 'Always true: whether it stood there before is not told.',
      resolve: () => true,
    }),
  }),
})
