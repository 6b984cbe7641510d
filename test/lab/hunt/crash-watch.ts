import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'

/** Watches the processes that this one starts. */
export interface CrashWatch {
  /** How those ended that crashed since the last call, once all that were told to end have ended. */
  taken(): Promise<readonly string[]>
  stop(): void
}

const channel = 'child_process'

/**
 * A decoder refuses a file by its exit code, a parser never does. The signal that a reader sends to a process is no
 * crash.
 */
const isCrash = ({ killed, spawnargs }: ChildProcess, code: number | null, signal: string | null): boolean => {
  if (signal !== null) return !(killed && signal === 'SIGKILL')
  return code !== 0 && spawnargs.some((word) => word.includes('job-process'))
}

export const watchCrashes = (): CrashWatch => {
  const alive = new Set<ChildProcess>()
  let crashes: string[] = []
  const started = (message: unknown): void => {
    const { process: child } = message as { readonly process: ChildProcess }
    alive.add(child)
    child.once('exit', (code, signal) => {
      alive.delete(child)
      if (isCrash(child, code, signal)) crashes.push(signal ?? `exit code ${code}`)
    })
  }
  subscribe(channel, started)
  return {
    async taken() {
      await Promise.all([...alive].filter(({ killed }) => killed).map((child) => once(child, 'exit')))
      const those = crashes
      crashes = []
      return those
    },
    stop: () => void unsubscribe(channel, started),
  }
}
