import type { Bus } from './bus.ts'

let current: Bus | undefined

/** Called once at start; undefined when the bus closes. Subscription resolvers find it here. */
export function setCurrentBus(bus: Bus | undefined): void {
  current = bus
}

export function currentBus(): Bus {
  if (!current) throw new Error('There is no bus.')
  return current
}
