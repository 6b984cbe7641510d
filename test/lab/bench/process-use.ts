import { readFileSync, readdirSync, writeFileSync } from 'node:fs'

/** The kernel's file on a process, or '' for a process or thread that has ended. */
const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

const threads = (pid: number): readonly string[] => {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`)
  } catch {
    return []
  }
}

/** The process and all that descend from it. */
const family = (pid: number): readonly number[] => [
  pid,
  ...threads(pid).flatMap((thread) =>
    read(`${thread}/children`)
      .split(' ')
      .filter((child) => child !== '')
      .flatMap((child) => family(Number(child))),
  ),
]

/** Microseconds of CPU that the living threads of a process have used. */
export const cpuOf = (pid: number): number =>
  threads(pid).reduce((sum, thread) => sum + Number(read(`${thread}/schedstat`).split(' ')[0]) / 1000, 0)

/** Microseconds of CPU of a process and all that descend from it. */
export const cpuOfFamily = (pid: number): number => family(pid).reduce((sum, each) => sum + cpuOf(each), 0)

/** Bytes that a process holds now, or held at most since its peak was forgotten. */
export const residentOf = (pid: number, field: 'VmRSS' | 'VmHWM' = 'VmRSS'): number =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024

/** The peak begins anew at what the process holds now. */
export const forgetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5')
