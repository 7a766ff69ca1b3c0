import { expect, it } from 'vitest'
import { Slots } from '../../src/lib/slots.ts'

const gate = () => Promise.withResolvers<void>()

it('ID-22 runs so many at once, queues in order and refuses the rest', async () => {
  const slots = new Slots({ limit: 2, waiting: 2, refusal: () => new Error('full') })
  const gates = Array.from({ length: 4 }, gate)
  const started: number[] = []
  const runs = gates.map(({ promise }, i) =>
    slots.run(async () => {
      started.push(i)
      await promise
      return i
    }),
  )
  await expect(slots.run(async () => 5)).rejects.toThrow('full')
  expect(started).toEqual([0, 1])

  gates[1]!.resolve()
  expect(await runs[1]).toBe(1)
  await expect.poll(() => started).toEqual([0, 1, 2])

  gates[0]!.reject(new Error('broken'))
  await expect(runs[0]).rejects.toThrow('broken')
  await expect.poll(() => started).toEqual([0, 1, 2, 3])

  gates[2]!.resolve()
  gates[3]!.resolve()
  expect(await Promise.all([runs[2], runs[3]])).toEqual([2, 3])
  expect(await Promise.all([slots.run(async () => 'a'), slots.run(async () => 'b')])).toEqual(['a', 'b'])
})

it('ID-22 never runs more than the limit, however calls interleave', async () => {
  const slots = new Slots({ limit: 3, waiting: 1000, refusal: () => new Error('full') })
  let running = 0
  let most = 0
  const task = async () => {
    most = Math.max(most, ++running)
    for (let i = 0; i < Math.random() * 5; i++) await Promise.resolve()
    running--
  }
  await Promise.all(
    Array.from({ length: 500 }, async (_, i) => {
      for (let turn = 0; turn < i % 7; turn++) await Promise.resolve()
      await slots.run(task)
      await slots.run(task)
    }),
  )
  expect(most).toBe(3)
  expect(running).toBe(0)
})
