import { availableParallelism, loadavg } from 'node:os'

/** Load of a core above which figures say nothing. */
const most = 0.5

export const load = (): number => loadavg()[0]! / availableParallelism()

export const isQuiet = (): boolean => load() <= most

/** Ends the process on a busy machine, unless it is forced. */
export const demandQuiet = (forced: boolean): void => {
  if (forced || isQuiet()) return
  console.error(`The machine is busy (${load().toFixed(1)} a core): its figures would say nothing. --force takes them.`)
  process.exit(2)
}
