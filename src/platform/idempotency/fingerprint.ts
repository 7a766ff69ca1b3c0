import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { type DocumentNode, print } from 'graphql'

/** Its types promise a namespace where the module is the function itself. */
const canonical = canonicalize as unknown as (value: unknown) => string

type Request = { document: DocumentNode; operationName?: string | null | undefined; variables: unknown }

/**
 * What makes two requests the same (PLAT-50): the document without what GraphQL ignores in it, the operation's name, and
 * the variables in canonical form (RFC 8785).
 */
export function fingerprintOf({ document, operationName, variables }: Request): Buffer {
  return createHash('sha256')
    .update(canonical([print(document), operationName ?? null, variables ?? {}]))
    .digest()
}
