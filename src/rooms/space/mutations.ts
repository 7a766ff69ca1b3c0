import { arg } from '../../graphql/arguments.ts'
import { LastOwnerError } from '../../graphql/errors.ts'
import { mutation } from '../../graphql/mutation.ts'
import { addMember } from './add-member.ts'
import { createSpace } from './create-space.ts'
import { WrongPasscodeError } from './errors.ts'
import { joinSpace } from './join-space.ts'
import { leaveSpace } from './leave-space.ts'
import { markSpaceSeen } from './mark-space-seen.ts'
import { SpaceRoleEnum } from './member-graphql.ts'
import { memberField, spaceField } from './payload-fields.ts'
import { removeMember } from './remove-member.ts'
import { setMemberRole } from './set-member-role.ts'
import { setSpectator } from './set-spectator.ts'
import { updateSpace } from './update-space.ts'

const id = arg.id('Space')
const slug = arg
  .text({ max: 64 })
  .describe('Lower-case letters and digits with single hyphens between; unique in the org.')
const name = arg.text({ max: 64 }).describe('Its name for people.')
const passcode = arg.text({ min: 0, max: 12 }).optional().describe('What joining takes; empty for nothing.')

mutation('spaceCreate', {
  description: 'Makes a space, owned by the caller. Registered members of the org may, but not its viewers.',
  input: { slug, name, passcode },
  needs: 'member',
  scope: 'rooms:write',
  run: createSpace,
  payload: (t) => ({ space: spaceField(t) }),
})

mutation('spaceUpdate', {
  description: 'Changes slug, name or passcode of a space; what is left out stays. Its owners may.',
  input: { id, slug: slug.optional(), name: name.optional(), passcode },
  needs: 'user',
  scope: 'rooms:write',
  run: updateSpace,
  payload: (t) => ({ space: spaceField(t) }),
})

mutation('spaceJoin', {
  description: 'Makes the caller a member: any registered member of the org, or an anonymous person of it.',
  // Whatever is no passcode is a wrong one.
  input: {
    slug: arg.text({ max: 64 }).describe('Of the space.'),
    passcode: arg.text({ min: 0, max: 200 }).optional().describe('Where the space has one.'),
  },
  errors: [WrongPasscodeError],
  needs: 'user',
  scope: 'rooms:write',
  operations: 'own',
  run: joinSpace,
  payload: (t) => ({ space: spaceField(t) }),
})

mutation('spaceLeave', {
  description: 'Ends the caller’s own membership; they lead none of its rooms any more, and what they wrote stays.',
  input: { id },
  errors: [LastOwnerError],
  needs: 'user',
  scope: 'rooms:write',
  run: leaveSpace,
  payload: (t) => ({
    spaceId: t.globalID({
      description: 'The space that was left.',
      resolve: ({ spaceId }) => ({ type: 'Space', id: spaceId }),
    }),
  }),
})

mutation('spaceSeen', {
  description: 'Moves a space to the front of `viewer.spaces`.',
  input: { id },
  needs: 'user',
  scope: 'rooms:write',
  run: markSpaceSeen,
  payload: (t) => ({ space: spaceField(t) }),
})

mutation('spaceMemberAdd', {
  description: 'Takes a person or agent of the org into a space. Its owners may.',
  input: {
    id,
    userId: arg.id('User'),
    spectator: arg.boolean().optional().describe('Default: false, for an agent true.'),
  },
  needs: 'user',
  scope: 'rooms:write',
  run: addMember,
  payload: (t) => ({ space: spaceField(t), member: memberField(t) }),
})

mutation('spaceMemberRoleSet', {
  description: 'Makes a member an owner, or an owner a member. Owners may; the last owner stays one.',
  input: { id, userId: arg.id('User'), role: arg.enum(SpaceRoleEnum).describe('The role from now on.') },
  errors: [LastOwnerError],
  needs: 'user',
  scope: 'rooms:write',
  run: setMemberRole,
  payload: (t) => ({ space: spaceField(t), member: memberField(t) }),
})

mutation('spaceMemberRemove', {
  description: 'Removes somebody from a space. Owners may; the last owner stays.',
  input: { id, userId: arg.id('User') },
  errors: [LastOwnerError],
  needs: 'user',
  scope: 'rooms:write',
  run: removeMember,
  payload: (t) => ({
    space: spaceField(t),
    userId: t.globalID({
      description: 'Who is no member any more.',
      resolve: ({ userId }) => ({ type: 'User', id: userId }),
    }),
  }),
})

mutation('spaceSpectatorSet', {
  description:
    'Makes the caller watch in all rooms of a space, or take part again; owners may say so for an agent. Whoever ' +
    'becomes a spectator withdraws their vote in an open round.',
  input: {
    id,
    spectator: arg.boolean().describe('Whether they watch from now on.'),
    userId: arg.id('User').optional().describe('An agent of the space; the caller when left out.'),
  },
  needs: 'user',
  scope: 'rooms:write',
  run: setSpectator,
  payload: (t) => ({
    space: spaceField(t),
    member: memberField(t),
    voteWithdrawn: t.exposeBoolean('voteWithdrawn', { description: 'A vote of theirs was withdrawn.' }),
  }),
})
