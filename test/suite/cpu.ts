import { readFileSync } from 'node:fs'

/** Ticks in a second of CPU: every Linux tells this many. */
const ticks = 100

/**
 * Seconds of CPU of all processes that this one began and that have ended, each with those that it waited for itself; null
 * where the system does not tell.
 */
export const cpuOfEnded = (): number | null => {
  if (process.platform !== 'linux') return null
  const text = readFileSync('/proc/self/stat', 'utf8')
  // The name of a process may have spaces and brackets of its own.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) / ticks
}

/** Tells for each process that has just ended what it cost. Two that end at once are both told with the first of them. */
export const costs = (read: () => number | null = cpuOfEnded): (() => number | null) => {
  let before = read()
  return () => {
    const now = read()
    const cost = now === null || before === null ? null : now - before
    before = now
    return cost
  }
}
