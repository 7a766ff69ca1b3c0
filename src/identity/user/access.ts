import { type Caller, meets } from '../../graphql/caller.ts'

/** ID-10. */
export function seesEmail(caller: Caller | null, userId: string): boolean {
  if (!caller) return false
  return caller.userId === userId || meets('admin', caller)
}
