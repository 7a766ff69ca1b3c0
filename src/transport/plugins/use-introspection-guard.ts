import { NoSchemaIntrospectionCustomRule } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Principal } from '../principal.ts'

const SUGGESTION = /\s*Did you mean [^?]*\?/g

/** Nobody learns the schema without signing in: no introspection, and no names in "did you mean" (PLAT-66). */
export function useIntrospectionGuard(): Plugin<{ principal?: Principal }> {
  return {
    onValidate({ context, addValidationRule }) {
      if (context.principal?.caller) return
      addValidationRule(NoSchemaIntrospectionCustomRule)
      return ({ result, setResult }) => {
        for (const error of result) error.message = error.message.replace(SUGGESTION, '')
        setResult([...result])
      }
    },
  }
}
