// A Prisma generator that writes the whole model as JSON: unlike the generated client it keeps column types, nullability
// and keys, which the contract test compares with the database.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import helper from '@prisma/generator-helper'

helper.generatorHandler({
  onManifest: () => ({ defaultOutput: '../src/generated/dmmf.json', prettyName: 'data model as JSON' }),
  onGenerate: async ({ dmmf, generator }) => {
    const file = generator.output?.value
    if (!file) throw new Error('the dmmf generator has no output')
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, JSON.stringify(dmmf.datamodel))
  },
})
