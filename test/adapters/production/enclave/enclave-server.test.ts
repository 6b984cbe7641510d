import '../../../fakes/unwatched.ts'
import { once } from 'node:events'
import { type IncomingMessage, createServer } from 'node:http'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { enclaveClient } from '../../../../adapters/production/enclave/enclave-client.ts'
import { enclaveServer } from '../../../../adapters/production/enclave/enclave-server.ts'
import { TooMany, Unavailable } from '../../../../core/errors.ts'
import type { Enclave, Grant, SealedReply } from '../../../../core/ports/enclave.ts'
import { turnsDuring } from '../../../turns-during.ts'
import { until } from '../../../until.ts'

const grant: Grant = { request: 'r', organization: 'o', user: 'u', key: 'k', models: null }
const trailer = { model: null, backend: null, usage: null, audioSeconds: null }
const reply = (body: Record<string, unknown>): SealedReply => ({
  ...{ kind: 'body', status: 200, body, failure: null, trailer },
})

/** A line to an enclave that handles calls as the test says. */
const line = async (
  t: Test,
  handle: Enclave['handle'],
): Promise<{ enclave: Enclave; requests: readonly IncomingMessage[] }> => {
  const folder = await mkdtemp(join(tmpdir(), 'line-'))
  const socket = join(folder, 'enclave.sock')
  const inside = { handle } as unknown as Enclave
  const serve = enclaveServer(inside, { hidden: false, closed: false, active: 0 })
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    serve(request, response)
  }).listen(socket)
  await once(server, 'listening')
  const enclave = enclaveClient(socket, null)
  t.teardown(async () => {
    await enclave.dispose?.()
    server.closeAllConnections()
    server.close()
    await rm(folder, { recursive: true })
  })
  return { enclave, requests }
}

t.test('a long body comes in parts of a known length', async (t) => {
  const { enclave } = await line(t, async (_, sealed) => {
    const { length } = sealed as { length?: number }
    let [sum, longest] = [0, 0]
    for await (const part of sealed as AsyncIterable<Uint8Array>) {
      sum += part.reduce((one, other) => one + other, 0)
      longest = Math.max(longest, part.length)
    }
    return reply({ length, sum, isWhole: longest === length })
  })
  const bytes = new Uint8Array(4_000_000).fill(1)
  const { body } = (await enclave.handle('a', bytes, grant, new AbortController().signal)) as {
    body: unknown
  }
  t.same(body, { length: bytes.length, sum: bytes.length, isWhole: false })
})

t.test('the bytes of a long answer come on lines of their own, between which others have their turn', async (t) => {
  for (const length of [262_145, 3_000_001]) {
    const bytes = Buffer.from(Array.from({ length }, (_, at) => at % 251))
    const { enclave, requests } = await line(t, async () => reply({ nonce: 'ab', encryptedResponse: bytes }))
    const call = () => enclave.handle('a', {}, grant, new AbortController().signal)
    const turns = await turnsDuring(async () => {
      const { kind, body, ...others } = (await call()) as Extract<SealedReply, { kind: 'body' }>
      t.same({ kind, ...others }, { kind: 'body', status: 200, failure: null, trailer })
      t.ok(bytes.equals(body['encryptedResponse'] as Uint8Array), `${length} bytes`)
      t.equal(body['nonce'], 'ab')
    })
    t.ok(turns >= length / 49_152, `${turns} turns`)
    await call()
    t.equal(requests[0]?.socket, requests[1]?.socket, 'the line is free afterwards')
  }
})

t.test('a gateway that knows no such lines gets the digits of a long answer', async (t) => {
  const bytes = Buffer.alloc(300_000, 7)
  const inside = { handle: async () => reply({ encryptedResponse: bytes }) } as unknown as Enclave
  const server = createServer(enclaveServer(inside, { hidden: false, closed: false, active: 0 })).listen(0)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const headers = { grant: encodeURIComponent(JSON.stringify(grant)) }
  const answer = await fetch(`http://127.0.0.1:${port}/handle/a`, { method: 'POST', headers, body: '{}\n' })
  t.same(JSON.parse(await answer.text()), reply({ encryptedResponse: bytes.toString('hex') }))
  server.close()
})

t.test('a long answer that ends early is no answer', async (t) => {
  const bytes = (lines: readonly string[], length: unknown) => ({
    lines: [JSON.stringify({ ...reply({}), long: { name: 'chunk', length } }), ...lines],
  })
  for (const { lines } of [bytes(['AAAA'], 4), bytes(['AAAA', ''], 4), bytes([], 1e12), bytes(['AAAA'], 'many')]) {
    const folder = await mkdtemp(join(tmpdir(), 'line-'))
    const socket = join(folder, 'enclave.sock')
    const server = createServer((_, response) => void response.end(`${lines.join('\n')}\n`)).listen(socket)
    await once(server, 'listening')
    const enclave = enclaveClient(socket, null)
    await t.rejects(enclave.handle('a', {}, grant, new AbortController().signal), Unavailable)
    await enclave.dispose?.()
    server.close()
    await rm(folder, { recursive: true })
  }
})

t.test('a long body that nobody reads leaves its connection to the next call', async (t) => {
  const { enclave, requests } = await line(t, async () => {
    throw new TooMany('Too many requests', { retryAfter: 2_000 })
  })
  for (let call = 0; call < 10; call++)
    await t.rejects(enclave.handle('a', new Uint8Array(4_000_000), grant, new AbortController().signal), TooMany)
  t.ok(
    await until(async () => requests.every(({ complete }) => complete), 5_000),
    'all bodies are taken off their lines',
  )
  t.equal(requests.length, 10)
})
