import { rm } from 'node:fs/promises'
import type { TestProject } from 'vitest/node'
import { type ClusterAddress, clearAbandoned, makeDataDir, startCluster } from './cluster.ts'

declare module 'vitest' {
  interface ProvidedContext {
    cluster: ClusterAddress
  }
}

/** One database server for the whole run; test files clone databases from its template. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await clearAbandoned()
  const dataDir = await makeDataDir()
  const { server, address } = await startCluster(dataDir).catch(async (error) => {
    await rm(dataDir, { recursive: true, force: true })
    throw error
  })
  project.provide('cluster', address)
  return async () => {
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}
