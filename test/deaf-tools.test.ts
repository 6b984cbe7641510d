import './fakes/unwatched.ts'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import * as v from 'valibot'
import { memory } from '../adapters/memory/index.ts'
import { Tool } from '../core/ports/tool.ts'
import { Upstream } from '../core/ports/upstream.ts'
import { connect } from '../plugins/sealed/client/client.ts'
import { currentErrand } from '../plugins/shared/errand.ts'
import { type Running, running } from './environments.ts'
import { given } from './fitted.ts'
import { until } from './until.ts'

const listener: Upstream = {
  name: 'listener',
  models: async () => [{ id: 'ear', type: 'AUDIO_TRANSCRIPTION' }],
  transcribe: async () => {
    const spoken = { start: 0, end: 1, text: 'heard' }
    return { text: 'heard', language: 'en', duration: 1, segments: [spoken], words: [spoken] }
  },
}

const limits = { key: { requestsPerSecond: null, concurrentRequests: 1 }, organization: { requestsPerSecond: null } }

/** A gateway whose keys have one place, and two tools that go on until the test ends them, whoever left. */
const stage = async (t: Test) => {
  const end = new AbortController()
  const begun: string[] = []
  const errands: (string | undefined)[] = []
  const run = async () => {
    begun.push('deaf')
    await once(end.signal, 'abort')
    await sleep(1)
    errands.push(currentErrand()?.key)
  }
  const params = v.object({})
  const deaf: Tool = { name: 'deaf', description: 'Hears no end', kind: 'simple', clear: true, params, run }
  const named = { name: 'audioDiarization', description: 'Hears no end', params: v.object({ fileId: v.string() }) }
  const voices: Tool = { ...named, kind: 'reads-file', run }
  const tools = [given(Tool, 'deaf', () => deaf), given(Tool, 'audioDiarization', () => voices)]
  const adapters = { ...memory(), tools, upstreams: [given(Upstream, 'listener', () => listener)] }
  const gateway = await running(t, adapters, { limits })
  return { ...gateway, begun, errands, end: () => end.abort() }
}

const sealedClient = ({ base: baseUrl, key: apiKey }: Running) =>
  connect({ baseUrl, apiKey, policy: { allowInsecureDev: true } })

const roads: Record<string, (gateway: Running, signal: AbortSignal) => Promise<unknown>> = {
  'in the clear': ({ base, key }, signal) =>
    fetch(`${base}/mcp`, {
      method: 'POST',
      signal,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'deaf', arguments: {} } }),
    }),
  sealed: (gateway, signal) => sealedClient(gateway).tools.call('deaf', {}, { signal }),
  'of a transcription': (gateway, signal) => {
    const file = { name: 'talk.mp3', bytes: new Uint8Array(100) }
    return sealedClient(gateway).audio.transcriptions.create({ model: 'ear', file, diarize: true }, { signal })
  },
}

for (const [road, call] of Object.entries(roads))
  t.test(`a tool ${road} that hears no end keeps no place of the key, and its errand`, async (t) => {
    const gateway = await stage(t)
    const leaving = new AbortController()
    const left = call(gateway, leaving.signal).catch((error: unknown) => error)
    t.ok(await until(() => gateway.begun.length === 1), 'the tool runs')
    leaving.abort()
    await left
    t.ok(
      await until(async () => (await gateway.call('GET', '/v1/models')).status === 200, 3_000, 50),
      'the place is free',
    )
    t.strictSame(gateway.errands, [], 'while the tool goes on')
    gateway.end()
    t.ok(await until(() => gateway.errands.length === 1))
    t.match(gateway.errands, [/^key_/], 'as work for its caller')
  })
