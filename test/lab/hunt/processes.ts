import { readFileSync, writeFileSync } from 'node:fs'

const readable = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Ms that a thread ran, and ms that the thread waited for a core. A thread that is gone, or a silent system, gives zeros. */
const timesOf = (thread: string): readonly [ran: number, waited: number] => {
  const [ran = 0, waited = 0] = readable(`/proc/${thread}/schedstat`).split(' ').map(Number)
  return [ran / 1e6, waited / 1e6]
}

/** Ms that the main thread ran. */
export const spentBy = (pid: number): number => timesOf(`${pid}/task/${pid}`)[0]

/** Ms that the main thread could have run and had no core. */
export const coreless = (pid: number): number => timesOf(`${pid}/task/${pid}`)[1]

/** The same of the thread that asks. */
export const corelessHere = (): number => timesOf('thread-self')[1]

/** Bytes that are resident. */
export const residentIn = (pid: number): number => Number(readable(`/proc/${pid}/statm`).split(' ')[1] ?? 0) * 4096

/** Bytes that were resident at most since the peak was forgotten. */
export const peakOf = (pid: number): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readable(`/proc/${pid}/status`))?.[1] ?? 0) * 1024

/** Whether the system forgot the peak: only Linux does, and of a process that is there. */
export const forgetPeak = (pid: number): boolean => {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
    return true
  } catch {
    return false
  }
}

export const childrenOf = (pid: number): readonly number[] =>
  readable(`/proc/${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean).map(Number)

const wordsOf = (pid: number): readonly string[] => readable(`/proc/${pid}/cmdline`).split('\0')

/** The confidential process beside a gateway; null while there is none. */
export const enclaveBeside = (gateway: number): number | null =>
  childrenOf(gateway).find((pid) => wordsOf(pid).includes('enclave')) ?? null

/** The processes that serve for a gateway; none where it serves itself. */
export const workersOf = (gateway: number): readonly number[] =>
  childrenOf(gateway).filter((pid) => wordsOf(pid).includes('--workers'))

export const running = (pid: number): boolean => readable(`/proc/${pid}/stat`) !== ''
