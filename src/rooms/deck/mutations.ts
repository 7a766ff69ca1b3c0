import { prisma } from '../../db/prisma.ts'
import { arg } from '../../graphql/arguments.ts'
import { callerOf, type SchemaTypes } from '../../graphql/builder.ts'
import { LimitReachedError } from '../../graphql/errors.ts'
import { mutation } from '../../graphql/mutation.ts'
import { inVisibleSpace } from '../space/access.ts'
import { spaceField } from '../space/payload-fields.ts'
import { CARDS_INPUT } from './cards-input.ts'
import { createDeck, type DeckChange } from './create-deck.ts'
import { deleteDeck } from './delete-deck.ts'
import { updateDeck } from './update-deck.ts'

const { name, cards, ordinal } = CARDS_INPUT

const deckField = (t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, DeckChange>) =>
  t.prismaField({
    type: 'Deck',
    nullable: true,
    description: 'The deck as it is now.',
    resolve: (query, { deckId }, _args, context) =>
      prisma.deck.findUnique({
        ...query,
        where: { orgId_id: { orgId: callerOf(context).orgId, id: deckId }, ...inVisibleSpace(context) },
      }),
  })

mutation('deckCreate', {
  description: 'Makes a deck of a space. Its members may; a space has at most 50.',
  input: { spaceId: arg.id('Space'), name, cards, ordinal },
  errors: [LimitReachedError],
  needs: 'user',
  scope: 'rooms:write',
  run: createDeck,
  payload: (t) => ({ deck: deckField(t), space: spaceField(t) }),
})

mutation('deckUpdate', {
  description: 'Changes a deck of a space; what is left out stays. Rooms made with it keep their cards. Members may.',
  input: { id: arg.id('Deck'), name: name.optional(), cards: cards.optional(), ordinal },
  needs: 'user',
  scope: 'rooms:write',
  run: updateDeck,
  payload: (t) => ({ deck: deckField(t), space: spaceField(t) }),
})

mutation('deckDelete', {
  description: 'Deletes a deck of a space. Rooms made with it keep their cards. Members may.',
  input: { id: arg.id('Deck') },
  needs: 'user',
  scope: 'rooms:write',
  run: deleteDeck,
  payload: (t) => ({
    deckId: t.globalID({
      description: 'Of the deck that is gone.',
      resolve: (deleted) => ({ type: 'Deck', id: deleted.deckId }),
    }),
    space: spaceField(t),
  }),
})
