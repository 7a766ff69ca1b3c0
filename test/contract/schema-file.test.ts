import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { printed } from '../../tools/print-schema.ts'

const checkedIn = () => readFile(new URL('../../schema.graphql', import.meta.url), 'utf8')
const isCurrent = (text: string) => text === printed

it('schema.graphql is what the code makes; `npm run schema` prints it anew', async () => {
  expect(isCurrent(await checkedIn()), 'schema.graphql is stale: npm run schema').toBe(true)
})

it('an edit of schema.graphql does not pass', async () => {
  const text = await checkedIn()

  expect(isCurrent(text.replace('version: String!', 'version: String'))).toBe(false)
  expect(isCurrent(`${text}type Planted { id: ID! }\n`)).toBe(false)
})
