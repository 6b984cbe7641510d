import { rmSync } from 'node:fs'
import { mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deadUrl } from '../../../adapters/drill/provider.ts'
import { type Backend, startBackend } from './backend.ts'
import { type Enclave, epoch, startEnclave } from './enclave.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { hurry } from './hurry.ts'
import type { Traffic } from './traffic.ts'

/** Everything that is called: a gateway, two enclaves and what answers for all models, each in a process of its own but the last. */
export interface Stage {
  readonly backend: Backend
  readonly gateway: Gateway
  /** The one that stays; half of the callers seal to it. */
  readonly enclave: Enclave
  /** Puts another enclave in the place of the second one. Nothing may be under way. */
  renew(): Promise<void>
  /** Names of the keys that one of the enclaves has published by now. */
  keys(name: 'e0' | 'e1'): Promise<readonly string[]>
  /** Files that the gateway has stored. */
  stored(): Promise<number>
  /** What lies in the gateway's folder and the enclaves' and belongs to nothing. */
  strays(): Promise<number>
  close(): Promise<void>
}

const most = 1_000_000_000
const free = { requestsPerSecond: most, concurrentRequests: 10_000, tokensPerMinute: most }
const tools = [
  'audioGenerateFromText',
  'createFileForUser',
  'getSpreadsheetContent',
  'getTextDocumentContent',
  'getTime',
  'searchRag',
]
const ours = /^(blobs|usage|sealgate\.db(-wal|-shm)?|\w+\.sock)$/

/** Keys of the enclaves last `life` ms by the clock on the wall; from now on the clock of this process hurries as theirs does. */
export const stage = async (traffic: readonly Traffic[], callers: number, life: number): Promise<Stage> => {
  const data = await mkdtemp(join(tmpdir(), 'sealgate-soak-'))
  process.once('exit', () => rmSync(data, { recursive: true, force: true }))
  const backend = await startBackend()
  const config = {
    providers: { soak: { use: 'openai', baseUrl: backend.url }, dead: { use: 'openai', baseUrl: await deadUrl() } },
    models: Object.assign({}, ...traffic.map(({ models }) => models ?? {})) as object,
    tools: Object.fromEntries(tools.map((name) => [name, {}])),
    limits: { key: free, organization: free },
    decision: { places: 10_000 },
    // What is meant to break must not close the way for the rest.
    routing: { breaker: { faults: 1_000_000, ratio: 1 } },
  }
  const pace = { since: Date.now(), times: epoch / life }
  const inside = { ...config, timeouts: { total: Math.round(120_000 * pace.times) } }
  const [steady, renewed] = [join(data, 'steady.sock'), join(data, 'renewed.sock')]
  const enclave = await startEnclave(inside, steady, pace)
  let other = await startEnclave(inside, renewed, pace)
  const gateway = await startGateway({ ...config, enclave: { connect: [steady, renewed] } }, data, callers)
  hurry(pace.since, pace.times)

  return {
    backend,
    gateway,
    enclave,
    async renew() {
      await other.stop()
      other = await startEnclave(inside, renewed, pace)
    },
    async keys(name) {
      const headers = { authorization: `Bearer ${gateway.keys[0]}`, connection: 'close' }
      const { keys } = (await (await fetch(`${gateway.base}/rvenc/keys?enclave=${name}`, { headers })).json()) as {
        readonly keys: readonly { readonly kem: string; readonly enclaveKid: string }[]
      }
      return keys.filter(({ kem }) => kem === 'x-wing').map(({ enclaveKid }) => enclaveKid)
    },
    async stored() {
      const entries = await readdir(join(data, 'blobs'), { recursive: true, withFileTypes: true })
      return entries.filter((entry) => entry.isFile()).length
    },
    strays: async () => (await readdir(data)).filter((name) => !ours.test(name)).length,
    async close() {
      await gateway.stop()
      await Promise.all([enclave.stop(), other.stop()])
      backend.close()
    },
  }
}
