import { invalidInput } from '../../graphql/errors.ts'
import { agentBudgetsAreChecked } from '../hooks.ts'

const BUDGETS_MAX = 10
const BYTES_MAX = 16_384

/**
 * A list of budgets that whoever enforces them has looked at (ID-41, 69). While nobody does none can be set: a budget that
 * binds nobody would be a lie.
 */
export async function checkBudgets(orgId: string, given: unknown): Promise<readonly unknown[] | null> {
  if (given === null) return null
  if (!Array.isArray(given)) throw invalidInput('budgets', 'must be a list')
  if (given.length > BUDGETS_MAX) throw invalidInput('budgets', `must have at most ${BUDGETS_MAX} entries`)
  if (Buffer.byteLength(JSON.stringify(given)) > BYTES_MAX / 2) throw invalidInput('budgets', 'is too long')
  const answers = await agentBudgetsAreChecked({ orgId, budgets: given })
  if (answers.length === 0 && given.length > 0)
    throw invalidInput('budgets', 'cannot be set: nothing here enforces them')
  return given
}
