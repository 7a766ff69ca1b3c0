import type pg from 'pg'
import { findCatalogFaults } from './catalog-rules.ts'
import { findLeaks } from './leaks.ts'

/**
 * Everything that isolation needs and this database lacks (PLAT-1); empty when all is well. Needs a superuser inside a
 * transaction that will be rolled back.
 */
export async function findFaults(client: pg.ClientBase): Promise<string[]> {
  return [...(await findCatalogFaults(client)), ...(await findLeaks(client))]
}
