import type { CodegenConfig } from '@graphql-codegen/cli'

/** The typed client of the tests and of the walk-through: each document written with `graphql(…)` gets the types of its variables and its answer. */
const config: CodegenConfig = {
  schema: 'schema.graphql',
  documents: ['test/**/*.ts', 'docs/**/*.ts', '!test/generated/**', '!test/bench/**'],
  ignoreNoDocuments: true,
  generates: {
    'test/generated/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        // Plain Node runs the result: no enums of TypeScript's, and files are imported by their names.
        enumType: 'string-literal',
        enumsAsTypes: true,
        useTypeImports: true,
        emitLegacyCommonJSImports: false,
        importExtension: '.ts',
        strictScalars: true,
        scalars: {
          ID: 'string',
          BigInt: 'string',
          Date: 'string',
          DateTime: 'string',
          JSON: 'unknown',
          UUID: 'string',
        },
      },
    },
  },
}

export default config
