import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { program, served } from '../../fakes/served.ts'
import { until } from '../../until.ts'
import { startBackend } from './backend.ts'
import { configurationFor } from './configuration.ts'
import { childrenOf, enclaveBeside, running } from './processes.ts'
import { type Watch, watching } from './watch.ts'

const run = promisify(execFile)

/** A gateway as `npm start` starts it, with its enclave beside it, a backend behind it, and somebody who watches both. */
export interface Stage {
  readonly base: string
  /** Of the first organisation, with every scope. */
  readonly key: string
  readonly pids: { readonly gateway: number; readonly enclave: number }
  readonly watch: Watch
  /** A key of another organisation. */
  keyOf(organization: string): Promise<string>
  /** Which process is no longer the one that was started; null while both are. */
  fallen(): 'gateway' | 'enclave' | null
  close(): Promise<void>
}

/** Chats after which the young generation of a gateway's heap has the size that it has in service. */
const usualChats = 1_000

const chatted = async (base: string, key: string): Promise<void> => {
  const body = JSON.stringify({ model: 'chatting', messages: [{ role: 'user', content: 'a'.repeat(2_000) }] })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const one = async () => (await fetch(`${base}/std/chat/completions`, { method: 'POST', headers, body })).text()
  for (let left = usualChats; left > 0; left -= 8) await Promise.all(Array.from({ length: 8 }, one))
}

export const openStage = async (more: object = {}, args: readonly string[] = []): Promise<Stage> => {
  const folder = await mkdtemp(join(tmpdir(), 'hunt-'))
  const backend = await startBackend()
  const [data, file] = [join(folder, 'data'), join(folder, 'config.json')]
  await mkdir(data)
  await writeFile(file, JSON.stringify({ ...configurationFor(backend.url), ...more }))
  const env = { SEALGATE_DATA: data, SEALGATE_CONFIG: file, TMPDIR: folder }
  const { base, key, child } = await served(env, program, args)
  const gateway = child.pid!
  const as = { authorization: `Bearer ${key}` }
  const awake = async () => (await fetch(`${base}/rvenc/keys`, { headers: as })).ok
  if (!(await until(awake, 30_000))) throw new Error('The enclave does not come up')
  const enclave = enclaveBeside(gateway)!
  const socket = join(
    folder,
    (await readdir(folder)).find((name) => name.startsWith('sealgate-'))!,
    'enclave.sock',
  )
  await chatted(base, key)
  const watch = watching(base, gateway, socket, enclave)

  return {
    base,
    key,
    pids: { gateway, enclave },
    watch,
    async keyOf(organization) {
      const args = [program, 'keys', 'create', '--organization', organization, '--scopes', 'all']
      const { stdout } = await run(process.execPath, args, { env: { PATH: process.env['PATH'], ...env } })
      return /sk_\w+/.exec(stdout)![0]
    },
    fallen() {
      if (child.exitCode !== null || child.signalCode !== null) return 'gateway'
      return enclaveBeside(gateway) === enclave ? null : 'enclave'
    },
    async close() {
      await watch.close()
      // One whose loop stands still would not see that its gateway is gone.
      for (const pid of [...childrenOf(gateway), gateway]) if (running(pid)) process.kill(pid, 'SIGKILL')
      backend.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
