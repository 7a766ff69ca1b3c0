import { invalidInput } from '../../graphql/errors.ts'

export const LABELS_MAX = 32

export type Label = { name: string; value: string }

/** Labels as they are stored, by name. */
export function readLabels(labels: readonly Label[]): Record<string, string> {
  const names = labels.map(({ name }) => name)
  const again = names.findIndex((name, at) => names.indexOf(name) !== at)
  if (again >= 0) throw invalidInput(`labels.${again}.name`, 'is there twice')
  return Object.fromEntries(labels.map(({ name, value }) => [name, value]))
}

/** In the order of their names. */
export const labelsIn = (column: unknown): Label[] =>
  Object.entries((column ?? {}) as Record<string, string>)
    .map(([name, value]) => ({ name, value }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
