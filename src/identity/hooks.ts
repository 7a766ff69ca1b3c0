import type { Actor } from '../platform/index.ts'
import type { Role } from './membership/role.ts'
import { actorOfConsequences } from './org/archived.ts'

export type MembershipRevoked = { orgId: string; userId: string; by: Actor }
export type MemberRoleChanged = { orgId: string; userId: string; from: Role; to: Role; by: Actor }
/** Once for each org in which the person took part; every body removes what is theirs alone there. */
export type UserErased = { orgId: string; userId: string; by: Actor }
export type PurgeStep = { orgId: string; limit: number }
/** Removes up to `limit` rows of an org in a transaction of its own and says how many went; 0 means that none are left. */
export type OrgPurgeStep = (step: PurgeStep) => Promise<number>
/** What an admin wants an agent's budgets to be; whoever enforces them throws InvalidInputError at what it cannot. */
export type AgentBudgets = { orgId: string; budgets: readonly unknown[] }

/**
 * What bodies above want to hear of (ID-41). They register at start; a hook runs inside the operation that makes the
 * change, so one that throws undoes it all.
 */
function hookList<Change, Result = void>() {
  const hooks: ((change: Change) => Promise<Result>)[] = []
  return {
    register(hook: (change: Change) => Promise<Result>): void {
      hooks.push(hook)
    },
    /** In order of registration, one after the other: they share one connection. */
    async run(change: Change): Promise<Result[]> {
      const results: Result[] = []
      for (const hook of hooks) results.push(await hook(change))
      return results
    },
  }
}

/** What follows is recorded in the name of whoever caused it, where the org lets them write. */
function inTheNameOf<Change extends { by: Actor }>(run: (change: Change) => Promise<unknown>) {
  return async (change: Change): Promise<void> => {
    await run({ ...change, by: await actorOfConsequences(change.by) })
  }
}

const membershipRevoked = hookList<MembershipRevoked>()
const memberRoleChanged = hookList<MemberRoleChanged>()
const userErased = hookList<UserErased>()
const purgeSteps: OrgPurgeStep[] = []
const agentBudgets = hookList<AgentBudgets>()

export const onMembershipRevoked = membershipRevoked.register
export const onMemberRoleChanged = memberRoleChanged.register
export const onUserErased = userErased.register
export const checkAgentBudgets = agentBudgets.register

export const membershipWasRevoked = inTheNameOf(membershipRevoked.run)
export const memberRoleWasChanged = inTheNameOf(memberRoleChanged.run)
export const userWasErased = inTheNameOf(userErased.run)

/** Bodies register from the top down, so that what refers to a row goes before it. */
export const onOrgPurgeStep = (step: OrgPurgeStep): void => {
  purgeSteps.push(step)
}
export const orgPurgeSteps = (): readonly OrgPurgeStep[] => purgeSteps
export const agentBudgetsAreChecked = agentBudgets.run
