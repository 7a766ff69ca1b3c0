import type { Reporter, TestModule } from 'vitest/node'

/** Ends the run with `N passed, N failed`; what broke outside a test counts as failed, so nothing hides behind it. */
export default class SummaryReporter implements Reporter {
  #line: string | undefined

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const count = (state: 'passed' | 'failed' | 'skipped') =>
      tests.filter((test) => test.result().state === state).length
    const broken = modules.filter((module) => !module.ok() && !hasFailedTest(module)).length
    const skipped = count('skipped')
    const failed = count('failed') + broken + unhandledErrors.length
    const line = `${count('passed')} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`
    // Errors outside tests are printed after this call, so the line waits for the exit.
    if (!this.#line) process.once('exit', () => process.stdout.write(`${this.#line}\n`))
    this.#line = line
  }
}

function hasFailedTest(module: TestModule): boolean {
  return [...module.children.allTests('failed')].length > 0
}
