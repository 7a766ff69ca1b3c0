import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Runs what others registered with no operation around it. A hint's receiver would else find itself in whatever operation
 * happened to be running where the hint came from, and read as somebody else.
 */
export const outside: <T>(body: () => T) => T = AsyncLocalStorage.snapshot()
