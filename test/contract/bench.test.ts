import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

it('keeps the benchmark harness in step with the code it uses, although no test runs it', () => {
  const { stdout, status } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['--project', 'test/bench'], {
    cwd: ROOT,
    encoding: 'utf8',
  })

  expect(stdout).toBe('')
  expect(status).toBe(0)
})
