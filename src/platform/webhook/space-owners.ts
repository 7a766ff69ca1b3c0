import type { Prisma } from '../../generated/prisma/client.ts'
import type { Caller } from '../../graphql/caller.ts'

/** Who speaks for a space; the body that has the spaces says so. */
export type SpaceOwners = {
  /** The spaces that the caller acts as an owner of. */
  owned(caller: Caller): Prisma.SpaceWhereInput
  /** Refuses everybody else: NotFoundError at `path` for whom the space is not there. */
  require(caller: Caller, spaceId: string, path: string): Promise<void>
}

let owners: SpaceOwners | undefined

/** Called once by the body that has the spaces. */
export function registerSpaceOwners(port: SpaceOwners): void {
  owners = port
}

export function spaceOwners(): SpaceOwners {
  if (!owners) throw new Error('nobody has said who owns spaces')
  return owners
}
