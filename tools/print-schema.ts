// Prints schema.graphql from the code; the contract test fails when the checked-in file is stale.
import { writeFileSync } from 'node:fs'
import { lexicographicSortSchema, printSchema } from 'graphql'
import { schema } from '../src/schema.ts'

export const printed = `${printSchema(lexicographicSortSchema(schema))}\n`

if (import.meta.main) writeFileSync(new URL('../schema.graphql', import.meta.url), printed)
