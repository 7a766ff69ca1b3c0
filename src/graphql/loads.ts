import DataLoader from 'dataloader'
import type { Context } from './context.ts'

/**
 * Defines a batch read: all keys asked for in one tick become one statement, and a key is read once per context. `batch`
 * returns a map; a key it lacks gives null.
 */
export function batchLoad<K extends string, V>(
  batch: (keys: readonly K[], context: Context) => Promise<Map<K, V>>,
): (context: Context, key: K) => Promise<V | null> {
  const kind = {}
  return (context, key) => {
    let loader = context.loads.get(kind) as DataLoader<K, V | null> | undefined
    if (!loader) {
      loader = new DataLoader(async (keys) => {
        const found = await batch(keys, context)
        return keys.map((wanted) => found.get(wanted) ?? null)
      })
      context.loads.set(kind, loader)
    }
    return loader.load(key)
  }
}
