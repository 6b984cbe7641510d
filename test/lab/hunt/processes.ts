import { readFileSync, writeFileSync } from 'node:fs'

const readable = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Ms that the main thread ran; zero for a process that is gone, or where the system does not tell. */
export const spentBy = (pid: number): number =>
  Number(readable(`/proc/${pid}/task/${pid}/schedstat`).split(' ')[0]) / 1e6

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

/** The confidential process beside a gateway; null while there is none. */
export const enclaveBeside = (gateway: number): number | null =>
  childrenOf(gateway).find((pid) => readable(`/proc/${pid}/cmdline`).split('\0').includes('enclave')) ?? null

export const running = (pid: number): boolean => readable(`/proc/${pid}/stat`) !== ''
