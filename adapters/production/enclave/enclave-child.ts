import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Log } from '../../../core/ports/platform.ts'
import { mostSocketPathBytes } from '../config/config.ts'

/** An enclave process of this gateway. */
export interface EnclaveProcess {
  /** The path of its unix socket. */
  readonly socket: string
  /** Ends the process after its running calls, or after a short time. */
  leave(): void
}

/** In ms: the first pause before a restart. Each early end doubles the pause, up to the longest one. */
const pauseMs = 250
const longestPauseMs = 10_000
/** In ms: the time for running calls when the process is to end. */
const finishMs = 2_000

/** A new folder for the socket, which only this user enters. */
const socketPlace = (): { readonly folder: string; readonly socket: string } => {
  const prefix = join(tmpdir(), 'sealgate-')
  const socketIn = (folder: string) => join(folder, 'enclave.sock')
  if (Buffer.byteLength(socketIn(`${prefix}XXXXXX`)) > mostSocketPathBytes)
    throw new Error(
      `TMPDIR is too long: the enclave's socket below ${tmpdir()} has a path of over ${mostSocketPathBytes} bytes`,
    )
  const folder = mkdtempSync(prefix)
  return { folder, socket: socketIn(folder) }
}

/**
 * Restarts the process whenever it ends. The new process has new keys, since the old keys died with the old process.
 */
export const enclaveProcess = (config: Readonly<Record<string, unknown>>, log: Log): EnclaveProcess => {
  const { folder, socket } = socketPlace()
  const told = JSON.stringify({ ...config, enclave: { ...(config['enclave'] as object), listen: socket } })
  const forget = () => {
    process.off('exit', abandon)
    rmSync(folder, { recursive: true, force: true })
  }
  // No caller waits for the running calls any more.
  const abandon = () => {
    child.kill('SIGKILL')
    forget()
  }
  process.once('exit', abandon)
  let child: ChildProcess
  let left = false
  let wait = pauseMs

  const start = () => {
    const main = fileURLToPath(new URL('../main.js', import.meta.url))
    const began = performance.now()
    child = spawn(process.execPath, [main, 'enclave'], {
      env: allowedVariables(process.env),
      stdio: ['pipe', 'ignore', 'inherit'],
    })
    // A process that ends before it has read its configuration breaks the pipe.
    child.stdin?.on('error', () => undefined)
    child.stdin?.write(`${told}\n`)
    const ended = (code: number | null, signal: NodeJS.Signals | null) => {
      if (left) return forget()
      log.warn('enclave.ended', { code, signal })
      wait = performance.now() - began > longestPauseMs ? pauseMs : Math.min(longestPauseMs, wait * 2)
      setTimeout(() => left || start(), wait).unref()
    }
    child.once('exit', ended)
    // A process that failed to start emits no `exit`.
    child.once('error', () => child.pid === undefined && ended(null, null))
  }
  start()

  return {
    socket,
    leave() {
      left = true
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return forget()
      child.stdin?.end()
      const timer = setTimeout(() => child.kill('SIGKILL'), finishMs)
      child.once('exit', () => clearTimeout(timer))
    },
  }
}

/** The environment variables that a gateway passes to its enclave process. */
export const allowedVariables = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    ['PATH', 'HOME', 'TZ', 'LANG', 'TMPDIR'].flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
  )
