import { arg } from '../../graphql/arguments.ts'
import { mutation } from '../../graphql/mutation.ts'
import { addOwner } from './add-owner.ts'
import { archiveSpace, unarchiveSpace } from './archive-space.ts'
import { claimSpace } from './claim-space.ts'
import { deleteSpace } from './delete-space.ts'
import { listedSpaceField } from './payload-fields.ts'

const id = arg.id('Space')

mutation('spaceArchive', {
  description:
    'Takes a space out of the org’s directory and does nothing else: who is in it goes on. Owners and admins of the ' +
    'org may. Again, it does nothing.',
  input: { id },
  needs: 'adminPerson',
  run: archiveSpace,
  payload: (t) => ({ space: listedSpaceField(t) }),
})

mutation('spaceUnarchive', {
  description: 'Puts a space into the org’s directory again. Owners and admins of the org may. Again, it does nothing.',
  input: { id },
  needs: 'adminPerson',
  run: unarchiveSpace,
  payload: (t) => ({ space: listedSpaceField(t) }),
})

mutation('spaceClaim', {
  description:
    'Makes the caller, an owner or admin of the org, the owner of a space that nobody who counts owns. A space with an ' +
    'owner is refused.',
  input: { id },
  needs: 'adminPerson',
  run: claimSpace,
  payload: (t) => ({ space: listedSpaceField(t) }),
})

mutation('spaceAddOwner', {
  description:
    'Makes a member of a space its owner. Owners and admins of the org may, without being in the space or coming into it.',
  input: { id, userId: arg.id('User').describe('A registered member of the space who is no viewer of the org.') },
  needs: 'adminPerson',
  run: addOwner,
  payload: (t) => ({ space: listedSpaceField(t) }),
})

mutation('spaceDelete', {
  description:
    'Deletes a space and everything in it, for ever. Its owners may, and owners and admins of the org; the audit log ' +
    'keeps its id and slug.',
  input: { id, confirmSlug: arg.text({ max: 64 }).describe('The slug of the space, as a second thought.') },
  needs: 'user',
  scope: 'rooms:write',
  run: deleteSpace,
  payload: (t) => ({
    spaceId: t.globalID({
      description: 'The space that is gone.',
      resolve: ({ spaceId }) => ({ type: 'Space', id: spaceId }),
    }),
    slug: t.exposeString('slug', { description: 'What it was called; free again.' }),
  }),
})
