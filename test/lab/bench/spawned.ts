import { freePort } from '../../fakes/listening.ts'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { program, served } from '../../fakes/served.ts'
import type { Subject } from './measure.ts'
import { cpuOfFamily, residentOf } from './process-use.ts'

/** A program that answers no questions; the kernel counts what it and its children use. */
export interface Spawned extends Subject {
  readonly pid: number
}

const subjectOf = (base: string, child: ChildProcess, ended: Promise<unknown>): Spawned => {
  const pid = child.pid!
  return {
    base,
    pid,
    cpu: () => Promise.resolve(cpuOfFamily(pid)),
    memory: () => Promise.resolve(residentOf(pid)),
    ask: () => Promise.reject(new Error('The program answers no questions')),
    async stop() {
      child.kill()
      await ended
    },
  }
}

/** Starts a program of another maker on a free port; `args` makes its command line from that port. */
export const spawned = async (
  folder: string,
  args: (port: number) => readonly string[],
  env: Readonly<Record<string, string>> = {},
  program = process.execPath,
): Promise<Spawned> => {
  const port = await freePort()
  const child = spawn(program, [...args(port)], {
    cwd: folder,
    env: { ...process.env, NODE_ENV: 'production', ...env },
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  const base = `http://127.0.0.1:${port}`
  const answers = () =>
    fetch(base).then(
      () => true,
      () => false,
    )
  for (let tries = 0; !(await answers()); tries++) {
    if (tries === 1200) throw new Error(`${args(port)[0]} does not answer`)
    await sleep(100)
  }
  return subjectOf(base, child, ended)
}

const most = 1e9
const limits = { requestsPerSecond: most, concurrentRequests: 1e6, tokensPerMinute: 1e12, tokensPerDay: 1e12 }

/** The gateway as `npm start` runs it: with its enclave, its log, stores on the disk, one key, and limits out of reach. */
export const startedGateway = async (config: object, key: string): Promise<Spawned> => {
  const data = mkdtempSync(join(tmpdir(), 'sealgate-bench-'))
  const file = join(data, 'sealgate.json')
  const free = { key: limits, organization: limits, sealedStreams: 1000 }
  writeFileSync(file, JSON.stringify({ limits: free, ...config }))
  const server = await served(
    {
      SEALGATE_CONFIG: file,
      SEALGATE_DATA: join(data, 'data'),
      SEALGATE_KEY: key,
      SEALGATE_LOG: 'info',
      NODE_ENV: 'production',
    },
    program,
  )
  const ended = once(server.child, 'exit').then(() => rmSync(data, { recursive: true, force: true }))
  return subjectOf(server.base, server.child, ended)
}
