import type { Prisma } from '../../generated/prisma/client.ts'
import { type Caller, meets } from '../../graphql/caller.ts'
import { NO_ROWS } from '../../graphql/no-rows.ts'
import { spaceOwners } from './space-owners.ts'

/**
 * The endpoints that a caller runs: the org's for its owners and admins, a space's for the owners of that space. Only they
 * see what was delivered, which may be what people wrote in the space (ID-6).
 */
export function ownWebhooks(caller: Caller): Prisma.WebhookWhereInput {
  const ofSpaces = { space: spaceOwners().owned(caller) }
  return meets('admin', caller) ? { OR: [{ spaceId: null }, ofSpaces] } : ofSpaces
}

/** Those they see: owners and admins of the org see every one, and may switch it off or delete it (ID-6). */
export function visibleWebhooks(caller: Caller): Prisma.WebhookWhereInput {
  if (meets('admin', caller)) return {}
  return meets('member', caller) ? ownWebhooks(caller) : NO_ROWS
}

export function visibleDeliveries(caller: Caller): Prisma.WebhookDeliveryWhereInput {
  return meets('member', caller) || meets('admin', caller) ? { webhook: ownWebhooks(caller) } : NO_ROWS
}
