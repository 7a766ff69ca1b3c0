import { arg } from '../../graphql/arguments.ts'

export const standupInput = arg.object(
  'StandupConfigInput',
  {
    async: arg
      .boolean()
      .optional()
      .describe('People write when it suits them, and nobody waits for anybody. Default: false.'),
    speakerSeconds: arg
      .int(0, 900)
      .optional()
      .describe('How long a turn is meant to take, up to 900; 0 for no timer. Default: 120.'),
  },
  'What a standup is set to.',
)
