import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Log } from '../../../core/ports/platform.ts'
import { allowed } from './harden.ts'

/** A confidential process of our own. */
export interface EnclaveProcess {
  /** Where it listens. */
  readonly socket: string
  /** Ends the process after its running calls, and after a short while in any case. */
  leave(): void
}

const pause = 250
const longest = 10_000
/** Ms that running calls have to end when the process is to leave. */
const patience = 2_000

/** Started anew whenever it ends: with new keys, since the old ones died with it. */
export const enclaveProcess = (config: Readonly<Record<string, unknown>>, log: Log): EnclaveProcess => {
  const folder = mkdtempSync(join(tmpdir(), 'sealgate-'))
  const socket = join(folder, 'enclave.sock')
  const told = JSON.stringify({ ...config, enclave: { ...(config['enclave'] as object), listen: socket } })
  const forget = () => {
    process.off('exit', abandon)
    rmSync(folder, { recursive: true, force: true })
  }
  // No caller waits for its running calls any more.
  const abandon = () => {
    child.kill('SIGKILL')
    forget()
  }
  process.once('exit', abandon)
  let child: ChildProcess
  let left = false
  let wait = pause

  const start = () => {
    const main = fileURLToPath(new URL('../main.js', import.meta.url))
    const began = performance.now()
    child = spawn(process.execPath, [main, 'enclave'], {
      env: allowed(process.env),
      stdio: ['pipe', 'ignore', 'inherit'],
    })
    child.stdin?.on('error', () => undefined)
    child.stdin?.write(`${told}\n`)
    const ended = (code: number | null, signal: NodeJS.Signals | null) => {
      if (left) return forget()
      log.warn('enclave.ended', { code, signal })
      wait = performance.now() - began > longest ? pause : Math.min(longest, wait * 2)
      setTimeout(() => left || start(), wait).unref()
    }
    child.once('exit', ended)
    // One that could not be started never ends.
    child.once('error', () => child.pid === undefined && ended(null, null))
  }
  start()

  return {
    socket,
    leave() {
      left = true
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return forget()
      child.stdin?.end()
      const timer = setTimeout(() => child.kill('SIGKILL'), patience)
      child.once('exit', () => clearTimeout(timer))
    },
  }
}
