import { execFile } from 'node:child_process'
import { createHash, randomBytes, randomInt } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Served, program, served } from './served.ts'
import { formOf, uploadOf } from './uploads.ts'

export interface Outcome {
  readonly kills: number
  /** Files whose upload was acknowledged, and of those the ones that were acknowledged as removed. */
  readonly acknowledged: number
  readonly removed: number
  /** What must not be: acknowledged files that are not there or differ, listed files without their bytes. */
  readonly lost: number
  readonly broken: number
  /** Bytes without a record that the sweep found, and that it left. */
  readonly orphans: number
  readonly left: number
}

interface Known {
  readonly digest: string
  /** `asked` from before a removal is sent until it is answered. */
  state: 'kept' | 'asked' | 'removed'
}

const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

export interface KilledHouse {
  /** The settings of the store of bytes; the own disk when absent. */
  readonly blobs?: object
  /** In bytes: each eighth file has so many; absent, none is larger than a request. */
  readonly large?: number
}

/** Kills a server with SIGKILL at random moments while it takes files in and removes them, and looks at what is left. */
export const killed = async (kills: number, folder: string, { blobs, large }: KilledHouse = {}): Promise<Outcome> => {
  const config = join(folder, 'config.json')
  const unlimited = { requestsPerSecond: null, concurrentRequests: null }
  // Nothing of an enclave is needed here, so none is started.
  await writeFile(
    config,
    JSON.stringify({
      enclave: { connect: ['/nowhere'] },
      tools: {},
      surfaces: ['files'],
      limits: { key: unlimited, organization: unlimited },
      ...(blobs && { storage: { blobs } }),
    }),
  )
  const env = { SEALGATE_CONFIG: config, SEALGATE_DATA: join(folder, 'data') }
  let server = await served(env)
  const key = server.key
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const known = new Map<string, Known>()
  let acknowledged = 0
  let stored = 0

  const ask = (server: Served, method: string, path: string, body?: unknown) =>
    fetch(`${server.base}/files/encrypted${path}`, {
      method,
      headers: body instanceof FormData ? { authorization: headers.authorization } : headers,
      ...(body !== undefined && { body: body instanceof FormData ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000),
    })

  const store = async (server: Served): Promise<void> => {
    const isLarge = large !== undefined && stored++ % 8 === 0
    const content = randomBytes(isLarge ? large : randomInt(100, 150_000))
    const answer = await ask(server, 'POST', '/upload', isLarge ? formOf(content) : uploadOf(content))
    const { data } = (await answer.json()) as { data: { id: string } }
    if (answer.status !== 200) throw new Error(`upload ${answer.status}`)
    known.set(data.id, { digest: digestOf(content), state: 'kept' })
    acknowledged++
  }

  const removeOne = async (server: Served): Promise<void> => {
    const [id, file] = [...known].find(([, { state }]) => state === 'kept') ?? []
    if (id === undefined || file === undefined) return sleep(5)
    file.state = 'asked'
    const answer = await ask(server, 'DELETE', `/${id}`)
    if (answer.status === 200) file.state = 'removed'
  }

  const busy = async (server: Served, stop: { readonly now: boolean }, work: (server: Served) => Promise<void>) => {
    while (!stop.now) {
      try {
        await work(server)
      } catch {
        // The server is gone in the middle of it: nobody was told anything.
        return
      }
    }
  }

  for (let kill = 0; kill < kills; kill++) {
    const stop = { now: false }
    const before = acknowledged
    const work = [store, store, store, removeOne].map((each) => busy(server, stop, each))
    // A machine that is busy takes its time until anything is under way at all.
    for (let wait = 0; acknowledged === before && wait < 5_000; wait += 5) await sleep(5)
    await sleep(randomInt(0, 120))
    await server.stop('SIGKILL')
    stop.now = true
    await Promise.all(work)
    server = await served(env)
  }

  try {
    let [lost, broken] = [0, 0]
    for (const [id, { digest, state }] of known) {
      const answer = await ask(server, 'GET', `/${id}/content`)
      const same = answer.status === 200 && digestOf(new Uint8Array(await answer.arrayBuffer())) === digest
      if (state === 'kept' ? !same : state === 'removed' ? answer.status !== 404 : !same && answer.status !== 404)
        lost++
    }
    for (let offset = 0; ;) {
      const { data } = (await (await ask(server, 'GET', `?limit=100&offset=${offset}`)).json()) as {
        data: { files: { id: string; file_size: number }[] }
      }
      if (data.files.length === 0) break
      for (const { id, file_size } of data.files) {
        const answer = await ask(server, 'GET', `/${id}/content`)
        if (answer.status !== 200 || (await answer.arrayBuffer()).byteLength !== file_size) broken++
      }
      offset += data.files.length
    }
    await server.stop('SIGTERM')
    const sweep = async () => Number(/^(\d+) orphans/.exec(await swept(env))![1])
    const [orphans, left] = [await sweep(), await sweep()]
    const removed = [...known.values()].filter(({ state }) => state === 'removed').length
    return { kills, acknowledged, removed, lost, broken, orphans, left }
  } finally {
    server.child.kill('SIGKILL')
  }
}

const swept = async (env: Readonly<Record<string, string>>): Promise<string> => {
  const options = { env: { PATH: process.env['PATH'], ...env } }
  return (await promisify(execFile)(process.execPath, [program, 'sweep', '--grace', '0'], options)).stdout
}
