import { readdir, readFile } from 'node:fs/promises'

/** The kernel counts in hundredths of a second here, whatever its own tick is. */
const MS_PER_TICK = 10

type Times = { parent: number; ownMs: number; childrenMs: number }

/** User and system time that a process has used so far, all its threads together. */
export async function cpuMsOf(pid: number): Promise<number> {
  return (await timesOf(pid)).ownMs
}

/** The same of a database server: its first process, the living ones it forked, and those that are gone. */
export async function databaseCpuMs(postmaster: number): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const all = await Promise.all(pids.map((pid) => timesOf(pid).catch(() => undefined)))
  const living = all.filter((times) => times?.parent === postmaster)
  const { ownMs, childrenMs } = await timesOf(postmaster)
  return living.reduce((sum, times) => sum + (times?.ownMs ?? 0), ownMs + childrenMs)
}

async function timesOf(pid: number): Promise<Times> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  // The program's name is in parentheses and may hold anything, so fields are counted from behind it: `state` is the first.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const at = (index: number) => Number(fields[index])
  const [parent, user, system, childUser, childSystem] = [at(1), at(11), at(12), at(13), at(14)]
  return { parent, ownMs: (user + system) * MS_PER_TICK, childrenMs: (childUser + childSystem) * MS_PER_TICK }
}
