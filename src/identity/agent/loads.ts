import { prisma } from '../../db/prisma.ts'
import { callerOf } from '../../graphql/builder.ts'
import { batchLoad } from '../../graphql/loads.ts'
import { visibleAgents } from './access.ts'

export const agentById = batchLoad(async (ids: readonly string[], context) => {
  const { orgId } = callerOf(context)
  const where = { orgId, id: { in: [...ids] }, ...visibleAgents(context.caller) }
  return new Map((await prisma.agent.findMany({ where })).map((agent) => [agent.id, agent]))
})

/** The projects that are listed for each of these agents. */
export const listedProjects = batchLoad(async (ids: readonly string[], context) => {
  const { orgId } = callerOf(context)
  const rows = await prisma.agentProject.findMany({
    where: { orgId, agentId: { in: [...ids] } },
    orderBy: { projectId: 'asc' },
  })
  const byAgent = Map.groupBy(rows, ({ agentId }) => agentId)
  return new Map([...byAgent].map(([id, listed]) => [id, listed.map(({ projectId }) => projectId)]))
})
