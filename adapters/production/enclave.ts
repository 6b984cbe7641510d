import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import { plugin } from '../../core/plugin.ts'
import { Enclave } from '../../core/ports/enclave.ts'
import { Clock, Log } from '../../core/ports/host.ts'
import { allowed } from './harden.ts'
import { enclaveLine } from './enclave-line.ts'
import { several } from './enclaves.ts'

const bytes = v.instance(Buffer)

/** Confidential processes that run somewhere already. */
export const connected = plugin({
  port: Enclave,
  name: 'connected',
  settings: v.strictObject({
    connect: v.pipe(v.array(v.string()), v.minLength(1)),
    tls: v.optional(v.nullable(v.strictObject({ ca: bytes, cert: bytes, key: bytes })), null),
  }),
  needs: { clock: Clock, log: Log },
  create: ({ clock, log }, { connect, tls }) =>
    several(
      connect.map((at) => enclaveLine(at, tls)),
      clock,
      log,
    ),
})

const pause = 250
const longest = 10_000

/** A confidential process of our own, started anew when it ends: with new keys, since the old ones died with it. */
export const started = plugin({
  port: Enclave,
  name: 'started',
  settings: v.strictObject({ config: v.looseObject({}) }),
  needs: { clock: Clock, log: Log },
  create: ({ clock, log }, { config }): Enclave => {
    const folder = mkdtempSync(join(tmpdir(), 'sealgate-'))
    const socket = join(folder, 'enclave.sock')
    const told = JSON.stringify({ ...config, enclave: { ...(config['enclave'] as object), listen: socket } })
    let child: ChildProcess | null = null
    let closed = false
    let wait = pause

    const start = () => {
      const main = new URL('./main.js', import.meta.url).pathname
      const began = clock.now()
      child = spawn(process.execPath, [main, 'enclave'], {
        env: allowed(process.env),
        stdio: ['pipe', 'ignore', 'inherit'],
      })
      child.stdin!.on('error', () => undefined)
      child.stdin!.write(`${told}\n`)
      child.once('exit', (code) => {
        if (closed) return
        log.warn('enclave.ended', { code })
        wait = clock.now() - began > longest ? pause : Math.min(longest, wait * 2)
        setTimeout(() => closed || start(), wait).unref()
      })
    }
    start()

    const line = several([enclaveLine(socket, null)], clock, log)
    return {
      ...line,
      async dispose() {
        closed = true
        await line.dispose?.()
        child?.stdin?.end()
        child?.kill()
        rmSync(folder, { recursive: true, force: true })
      },
    }
  },
})
