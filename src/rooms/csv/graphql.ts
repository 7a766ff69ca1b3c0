import { arg, argumentsOf } from '../../graphql/arguments.ts'
import { builder } from '../../graphql/builder.ts'
import { roomCsv } from './room-csv.ts'

/** It reads as much as the whole room. */
const COST = 50

const read = argumentsOf({ roomId: arg.id('Room') })

builder.queryField('roomCsv', (t) =>
  t.string({
    nullable: true,
    args: read.args,
    complexity: COST,
    authScopes: { needs: 'standing', scope: 'rooms:read' },
    description:
      'A room as CSV, in any phase: of poker its stories with position, ref, title, notes, estimate and, once revealed, ' +
      'average, mode, consensus and votes; of a standup its entries with name, yesterday, today, blockers and skipped. ' +
      'A cell that a spreadsheet would take for a formula has a quote before it. Registered members of the space and ' +
      'its agents may; null for a room that is not the caller’s to see.',
    resolve: (_root, args, context) => roomCsv(context, read.values(args).roomId),
  }),
)
