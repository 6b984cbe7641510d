import { Readable } from 'node:stream'
import t from 'tap'
import { audioTranscriber } from '../../../../plugins/sealed/client/audio.ts'
import { openedContent } from '../../../../plugins/sealed/client/content.ts'
import { newKek, newRagDek } from '../../../../plugins/sealed/client/client.ts'
import { clearRequests } from '../../../../plugins/sealed/client/http-request.ts'
import { indexAndRotate } from '../../../../plugins/sealed/client/index-and-rotate.ts'
import { keysOf } from '../../../../plugins/sealed/client/keys.ts'
import { memoryOf } from '../../../../plugins/sealed/client/memory.ts'
import { type SealingKeys, sealingKeys } from '../../../../plugins/sealed/client/seal-request.ts'
import {
  type SendSealed,
  inferenceNames,
  partsSealer,
  sealedSender,
} from '../../../../plugins/sealed/client/send-sealed.ts'
import { tools } from '../../../../plugins/sealed/client/tools.ts'
import { uploader } from '../../../../plugins/sealed/client/upload.ts'
import { kems, publicKeyOf } from '../../../../plugins/sealed/wire/kem.ts'

const faulty = (facts: object) => ({ name: 'SealgateError', ...facts })

const reason = new Error('The user has left')

/** Bytes that break in their middle; `then` runs just before. */
async function* breaking(then: () => void): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode('{"data":')
  then()
  throw new Error('The connection is closed')
}

/** An answer in one of the ways in which a client reads it, which breaks while it is read. */
type Read = (answer: () => Response, signal: AbortSignal) => Promise<unknown>

const sending =
  (answer: () => Response): SendSealed =>
  async () =>
    ({ answer: answer(), request: {} }) as Awaited<ReturnType<SendSealed>>

const simple = [{ name: 'clock', kind: 'simple' }]

const reads: Readonly<Record<string, Read>> = {
  'a request in the clear': (answer, signal) =>
    clearRequests({
      baseUrl: 'http://gateway.example',
      apiKey: 'key',
      fetch: async () => answer(),
    } as unknown as Parameters<typeof clearRequests>[0]).data('GET', 'tools', {
      signal,
    }),
  'a sealed tool': (answer, signal) => {
    const aside = { data: async () => simple } as unknown as Parameters<typeof tools>[0]
    const given = [aside, sending(answer), {}, null] as unknown as Parameters<typeof tools>
    return tools(...given).call('clock', {}, { signal })
  },
  'a sealed recording': (answer, signal) =>
    audioTranscriber(sending(answer), 'transcriptions').create(
      { model: 'heard', file: { name: 'a.wav', bytes: new Uint8Array(4) } },
      { signal },
    ),
}

for (const [name, read] of Object.entries(reads))
  t.test(`${name} ends with the reason of its abort, and as cut off without one`, async (t) => {
    const left = new AbortController()
    const answer = (then: () => void) => () =>
      new Response(Readable.toWeb(Readable.from(breaking(then))) as ReadableStream)
    await t.rejects(
      read(
        answer(() => left.abort(reason)),
        left.signal,
      ),
      reason,
    )
    await t.rejects(
      read(
        answer(() => {}),
        new AbortController().signal,
      ),
      faulty({ fault: 'truncated' }),
    )
  })

t.test('a file ends with the reason of its abort, and as damaged without one', async (t) => {
  const left = new AbortController()
  const dek = new Uint8Array(32)
  const all = async (then: () => void, signal: AbortSignal) => {
    for await (const _ of openedContent('2', dek, breaking(then), signal));
  }
  await t.rejects(
    all(() => left.abort(reason), left.signal),
    reason,
  )
  await t.rejects(
    all(() => {}, new AbortController().signal),
    faulty({ fault: 'damaged' }),
  )
})

t.test('who leaves waits neither for a key nor for the list of tools, and nobody else hears of it', async (t) => {
  let requests = 0
  const fetch = () => {
    requests++
    return new Promise<Response>(() => {})
  }
  const at = { baseUrl: 'http://gateway.example', apiKey: 'key', policy: {}, fetch }
  const keys = sealingKeys(at as unknown as Parameters<typeof sealingKeys>[0])
  const left = new AbortController()
  const waiting = keys.current(false, left.signal)
  const other = keys.current(false, null)
  left.abort(reason)
  await t.rejects(waiting, reason)
  await t.rejects(keys.current(false, left.signal), reason, 'who has left before')
  const isWaiting = Symbol('waiting')
  t.equal(await Promise.race([other, Promise.resolve(isWaiting)]), isWaiting)
  t.equal(requests, 1, 'one request serves all')
  const given = [clearRequests(at as never), sending(() => new Response()), {}, null] as unknown
  const { call } = tools(...(given as Parameters<typeof tools>))
  await t.rejects(call('clock', {}, { signal: left.signal }), reason)
})

/** A client's parts before a gateway that never answers. */
const deaf = () => {
  const fetch = (_: unknown, { signal }: RequestInit = {}) =>
    new Promise<Response>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)))
  const at = { baseUrl: 'http://gateway.example', apiKey: 'key', policy: {}, fetch } as never
  const kek = newKek()
  const keys = keysOf(kek, newRagDek(kek))
  const seal = partsSealer(sealingKeys(at))
  const context = { ask: clearRequests(at), keys, memory: memoryOf(undefined, keys), checks: null } as never
  const checked = async (id: string) => ({ record: { id }, dek: new Uint8Array(32), proof: null })
  return { seal, context, indexing: indexAndRotate(context, null as never, { checked } as never, seal, undefined) }
}

t.test('who leaves an upload, an indexing or a rotation waits for no answer', async (t) => {
  const { seal, context, indexing } = deaf()
  const file = { name: 'a.txt', bytes: new Uint8Array(4) }
  let reads = 0
  const endless = async function* () {
    for (;;) {
      await new Promise(setImmediate)
      reads++
      yield new Uint8Array(4)
    }
  }
  const upload = uploader(context, seal, null as never)
  const works: Readonly<Record<string, (signal: AbortSignal) => Promise<unknown>>> = {
    'an upload with an index': (signal) => upload(file, { index: true, signal }),
    'an upload whose file is read': (signal) => upload({ name: 'b', mime: 'b', size: 9, open: endless }, { signal }),
    'an indexing': (signal) => indexing.index(['one'], signal),
    'a rotation': (signal) => indexing.rotateKek(newKek(), { signal }),
  }
  for (const [name, work] of Object.entries(works)) {
    const left = new AbortController()
    const working = work(left.signal)
    setTimeout(() => left.abort(reason), 20)
    await t.rejects(working, reason, name)
  }
  const before = reads
  await new Promise((resolve) => setTimeout(resolve, 20))
  t.equal(reads, before, 'the file is read no further')
})

t.test('who leaves while a refusal arrives gets the own reason', async (t) => {
  const left = new AbortController()
  const body = () => Readable.toWeb(Readable.from(breaking(() => left.abort(reason)))) as ReadableStream
  const fetch = async () => new Response(body(), { status: 503 })
  const kem = kems.find(({ name }) => name === 'x-wing')!
  const key = { kem: kem.id, notBefore: 0, notAfter: 1, publicKey: publicKeyOf(kem, new Uint8Array(kem.seed)) }
  const keys: SealingKeys = { current: async () => key, verified: async () => Promise.reject(reason) }
  const send = sealedSender({ baseUrl: 'http://gateway.example', apiKey: 'key', policy: {}, fetch } as never, keys)
  await t.rejects(send('rvenc/decision', {}, { signal: left.signal }, inferenceNames), reason)
})
