import { readdir, readFile } from 'node:fs/promises'

/** The kernel counts in hundredths of a second here, whatever its own tick is. */
const MS_PER_TICK = 10

export type Cpu = { userMs: number; systemMs: number }

type Times = Cpu & { parent: number; childrenMs: number }

/** What a process has used so far, all its threads together. */
export async function cpuOf(pid: number): Promise<Cpu> {
  const { userMs, systemMs } = await timesOf(pid)
  return { userMs, systemMs }
}

/** The same of a database server: its first process, the living ones it forked, and those that are gone. */
export async function databaseCpuMs(postmaster: number): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const all = await Promise.all(pids.map((pid) => timesOf(pid).catch(() => undefined)))
  const living = all.filter((times) => times !== undefined).filter(({ parent }) => parent === postmaster)
  const own = await timesOf(postmaster)
  return [own, ...living].reduce((sum, { userMs, systemMs }) => sum + userMs + systemMs, own.childrenMs)
}

async function timesOf(pid: number): Promise<Times> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  // The program's name is in parentheses and may hold anything, so fields are counted from behind it: `state` is the first.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const at = (index: number) => Number(fields[index])
  const [parent, user, system, childUser, childSystem] = [at(1), at(11), at(12), at(13), at(14)]
  return {
    parent,
    userMs: user * MS_PER_TICK,
    systemMs: system * MS_PER_TICK,
    childrenMs: (childUser + childSystem) * MS_PER_TICK,
  }
}
