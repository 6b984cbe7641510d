import { cpus } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

/** Share of all cores that other work may use; above it, figures say nothing. */
const mostShare = 0.1
const watchedMs = 2_000
/** The build before a bench may still be ending. */
const tries = 5

/** Share of all cores that was busy while this process slept. */
const busyShare = async (): Promise<number> => {
  const before = ticks()
  await sleep(watchedMs)
  const after = ticks()
  return (after.busy - before.busy) / Math.max(1, after.all - before.all)
}

export const isQuiet = async (): Promise<boolean> => (await busyShare()) <= mostShare

const ticks = (): { readonly busy: number; readonly all: number } => {
  let [idle, all] = [0, 0]
  for (const { times } of cpus()) {
    idle += times.idle
    for (const ms of Object.values(times)) all += ms
  }
  return { busy: all - idle, all }
}

/** Ends the process on a busy machine, unless it is forced; gives the share that was busy. */
export const demandQuiet = async (forced: boolean): Promise<number> => {
  let share = await busyShare()
  if (forced) return share
  for (let left = tries; share > mostShare && left > 1; left--) share = await busyShare()
  if (share <= mostShare) return share
  console.error(
    `Other work uses ${Math.round(100 * share)} % of the machine: figures would say nothing. --force takes them.`,
  )
  process.exit(2)
}
