import './fakes/unwatched.ts'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { served } from './fakes/served.ts'

const run = promisify(execFile)

const provider = `import { plugin } from '../../core/plugin.ts'
import { Upstream } from '../../core/ports/upstream.ts'
import { hostedChat, refusedFields } from './shared/hosted-chat.ts'

const refused = refusedFields('logit_bias')

/** The API of Pigeon. */
export default plugin({
  port: Upstream,
  name: 'pigeon',
  ...hostedChat({
    address: 'https://api.pigeon.example/v1',
    words: () => ({
      unheard: () => refused,
      modelOf: ({ id }) => (typeof id === 'string' ? { id, type: 'CHAT' } : null),
    }),
  }),
})
`

const providerTest = `import t from 'tap'
import pigeon from '../../../plugins/providers/pigeon.ts'
import { conform } from '../../contracts/contract.ts'
import { upstream } from '../../contracts/upstream.ts'
import { eventStream, staged } from '../../fakes/stage.ts'

t.test('contract', (t) =>
  conform(t, upstream.contract, (t) =>
    staged(t, {
      provider: pigeon,
      settings: (url) => ({ apiKey: 'key-1', baseUrl: url + '/v1' }),
      model: 'Qwen/Qwen3-8B',
      vectors: 'sglang',
      stream: eventStream,
      lists: /^\\/v1\\/models$/,
      chats: /^\\/v1\\/chat\\/completions$/,
    }),
  ),
)
`

const store = `import { unlessAborted } from '../../core/abort.ts'
import { BadRequest } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { BlobStore } from '../../core/ports/blob-store.ts'

const check = (path: string): void => {
  if (!path.split('/').every((it) => /^(?!\\.\\.?$)[\\w.-]+$/.test(it))) throw new BadRequest('Invalid path')
}

const gathered = async (bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<Buffer> => {
  const source = bytes[Symbol.asyncIterator]()
  const chunks: Buffer[] = []
  let ended = false
  try {
    for (;;) {
      const step = await unlessAborted(source.next(), signal)
      if ((ended = step.done === true)) return Buffer.concat(chunks)
      chunks.push(Buffer.from(step.value))
    }
  } finally {
    if (!ended) source.return?.().catch(() => {})
  }
}

/** Files in the memory of the process. */
export default plugin({
  port: BlobStore,
  name: 'drawer',
  create: (): BlobStore => {
    const files = new Map<string, Buffer>()
    return {
      async put(path, bytes, signal = new AbortController().signal) {
        check(path)
        signal.throwIfAborted()
        const whole = await gathered(bytes, signal)
        files.set(path, whole)
        return { size: whole.length }
      },
      async get(path, range, signal) {
        check(path)
        const whole = files.get(path)
        if (whole === undefined) return null
        const end = Math.min(whole.length, (range?.end ?? Infinity) + 1)
        const pieces = async function* () {
          for (let at = range?.start ?? 0; at < end; at += 65_536) {
            signal?.throwIfAborted()
            yield Uint8Array.from(whole.subarray(at, Math.min(at + 65_536, end)))
          }
        }
        return { size: whole.length, bytes: pieces() }
      },
      async remove(path) {
        check(path)
        files.delete(path)
      },
      async *list(prefix) {
        yield* [...files.keys()].filter((path) => path.startsWith(prefix)).sort()
      },
    }
  },
})
`

const storeTest = `import t from 'tap'
import { use } from '../../../core/plugin.ts'
import { BlobStore } from '../../../core/ports/blob-store.ts'
import drawer from '../../../plugins/storage/drawer.ts'
import { blobStore } from '../../contracts/blob-store.ts'
import { conform } from '../../contracts/contract.ts'
import { made } from '../../fitted.ts'

t.test('contract', (t) => conform(t, blobStore.contract, () => made(BlobStore, use(drawer))))
`

const backend = async (t: Test): Promise<string> => {
  const completion = { id: '1', object: 'chat.completion', created: 1, model: 'm', usage: {}, choices: [{ index: 0 }] }
  const message = { role: 'assistant', content: 'Coo.' }
  const server = createServer((request, response) => {
    const chat = { ...completion, choices: [{ index: 0, finish_reason: 'stop', message }] }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(request.url?.endsWith('/models') ? { data: [{ id: 'grey' }] } : chat))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

t.test('a new provider is two new files and no other edit, and so is a new store', async (t) => {
  const scratch = t.testdir()
  for (const it of ['core', 'plugins', 'adapters', 'package.json', 'tsconfig.json'])
    await cp(it, join(scratch, it), { recursive: true })
  for (const it of ['helpers.ts', 'fitted.ts', 'contracts', 'fakes', 'vectors/providers'])
    await cp(join('test', it), join(scratch, 'test', it), { recursive: true })
  await symlink(join(process.cwd(), 'node_modules'), join(scratch, 'node_modules'))
  const added = {
    'plugins/providers/pigeon.ts': provider,
    'test/plugins/providers/pigeon.test.ts': providerTest,
    'plugins/storage/drawer.ts': store,
    'test/plugins/storage/drawer.test.ts': storeTest,
  }
  for (const [file, text] of Object.entries(added)) {
    await mkdir(dirname(join(scratch, file)), { recursive: true })
    await writeFile(join(scratch, file), text)
  }
  const tsc = join(process.cwd(), 'node_modules/typescript/bin/tsc')
  const options = ['--noCheck', '--incremental', 'false', '--declaration', 'false', '--sourceMap', 'false']
  await run(process.execPath, [tsc, ...options], { cwd: scratch })
  for (const file of ['providers/pigeon', 'storage/drawer']) {
    const { stdout } = await run(process.execPath, [`dist/test/plugins/${file}.test.js`], { cwd: scratch })
    t.match(stdout, /ok 1 - contract/, `${file} keeps the contract of its port`)
    t.notMatch(stdout, /^not ok/m)
  }

  const key = `sk_live_${'3'.repeat(44)}`
  const config = {
    providers: { pigeon: { use: 'pigeon', apiKey: 'key-1', baseUrl: await backend(t) } },
    models: { grey: { upstreams: [{ provider: 'pigeon', model: 'grey' }] } },
    storage: { blobs: { use: 'drawer' } },
  }
  await writeFile(join(scratch, 'config.json'), JSON.stringify(config))
  const it = await served(
    { SEALGATE_DATA: join(scratch, 'data'), SEALGATE_CONFIG: join(scratch, 'config.json'), SEALGATE_KEY: key },
    join(scratch, 'dist/adapters/production/main.js'),
  )
  t.teardown(() => it.child.kill('SIGKILL'))
  const answer = await fetch(`${it.base}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'grey', messages: [{ role: 'user', content: 'Hi' }] }),
  })
  t.match(
    await answer.json(),
    { choices: [{ message: { content: 'Coo.' } }] },
    'the gateway answers by the new provider',
  )
  t.equal(await it.stop('SIGINT'), 0)
  await rm(join(scratch, 'node_modules'))
})
