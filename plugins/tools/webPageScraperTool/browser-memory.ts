import { readdirSync, readFileSync } from 'node:fs'

/** In bytes, for all processes of one browser together. */
const most = 1024 * 1024 * 1024
/** In ms, between two looks. */
const pace = 100

/** Calls `outgrown` once when a group of processes has more memory of its own than a browser may have. Call the result to stop. */
export const watchMemory = (group: number, outgrown: () => void): (() => void) => {
  const look = (): void => {
    if (memoryOf(group) <= most) return
    clearInterval(watch)
    outgrown()
  }
  const watch = setInterval(look, pace)
  return () => clearInterval(watch)
}

/** In bytes: what the processes of a group wrote, without the files that they read. 0 where the system tells nothing. */
const memoryOf = (group: number): number => {
  const processes = read(() => readdirSync('/proc').filter((name) => /^\d+$/.test(name))) ?? []
  return processes.map((process) => ownMemory(process, group)).reduce((sum, bytes) => sum + bytes, 0)
}

const ownMemory = (process: string, group: number): number => {
  const stat = read(() => readFileSync(`/proc/${process}/stat`, 'latin1')) ?? ''
  // The name of a program stands in brackets, and may hold spaces.
  const [, , owner] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (Number(owner) !== group) return 0
  const status = read(() => readFileSync(`/proc/${process}/status`, 'latin1')) ?? ''
  const kilobytes = [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)].map(([, count]) => Number(count))
  return kilobytes.reduce((sum, count) => sum + count * 1024, 0)
}

/** Null for a process that has just ended. */
const read = <T>(work: () => T): T | null => {
  try {
    return work()
  } catch {
    return null
  }
}
