import './fakes/unwatched.ts'
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import * as v from 'valibot'
import blobStore from '../adapters/memory/blob-store.ts'
import cache from '../adapters/memory/cache.ts'
import { clock, fetch, log, random } from '../adapters/memory/platform.ts'
import { memory } from '../adapters/memory/index.ts'
import { connect, newKek, newRagDek } from '../plugins/sealed/client/client.ts'
import { buildEnclave } from '../plugins/sealed/enclave/assemble.ts'
import { runApart } from '../plugins/shared/run-apart.ts'
import type { InsideSettings } from '../plugins/sealed/enclave-settings.ts'
import { plugin, use } from '../core/plugin.ts'
import { BlobStore } from '../core/ports/blob-store.ts'
import { Enclave } from '../core/ports/enclave.ts'
import { Tool } from '../core/ports/tool.ts'
import dev from '../plugins/evidence/dev.ts'
import rehearsal from '../plugins/providers/rehearsal.ts'
import searchRag from '../plugins/tools/searchRag.ts'
import { running, unhurried } from './environments.ts'
import { quietClock } from './slowness.ts'
import { given } from './fitted.ts'

/** A gateway whose enclave has these settings, a tool that holds a file for a while, and one that keeps a parser busy. */
const stage = async (t: Test, own: InsideSettings) => {
  const kept: BlobStore = blobStore.create({}, {}, 'kept')
  const open = { now: 0, most: 0, contents: 0 }
  const blobs: BlobStore = {
    ...kept,
    get(...given) {
      open.contents++
      return kept.get(...given)
    },
  }
  const holds = given(Tool, 'holdsFile', (): Tool => ({
    name: 'holdsFile',
    description: 'Holds a file for a while.',
    kind: 'reads-file',
    params: v.object({ fileId: v.string() }),
    async run() {
      open.now++
      open.most = Math.max(open.most, open.now)
      await sleep(100)
      open.now--
      return { contents: open.contents }
    },
  }))
  const busy = given(Tool, 'keepsBusy', (): Tool => ({
    name: 'keepsBusy',
    description: 'Keeps a parser busy.',
    kind: 'simple',
    params: v.object({}),
    run: (_, signal) => runApart('../test/fakes/endless', null, signal, { time: 60_000 }),
  }))
  const tools = [holds, busy, use(searchRag)]
  const host = { clock: use(clock), random: use(random), fetch: use(fetch), log: use(log), cache: use(cache) }
  const enclaveParts = { ...host, prover: use(dev), upstreams: [use(rehearsal)], tools, readers: [] }
  const create = () => buildEnclave(enclaveParts, {}, own, new Uint8Array(32))
  const gateway = await running(
    t,
    {
      ...memory(),
      tools,
      enclave: use(plugin({ port: Enclave, name: 'bounded', create })),
      blobStore: given(BlobStore, 'counted', () => blobs),
    },
    unhurried,
  )
  const kek = newKek()
  const policy = { allowInsecureDev: true }
  const client = connect({ baseUrl: gateway.base, apiKey: gateway.key, kek, wrappedRagDek: newRagDek(kek), policy })
  return { client, open }
}

t.test(
  'twelve calls on one file hold it as often as fits, and ask for its content when their turn comes',
  async (t) => {
    const { client, open } = await stage(t, { openBytes: 4 * 1024 * 1024 })
    const bytes = new Uint8Array(400 * 1024)
    const { id } = await client.files.upload({ name: 'a.bin', bytes })
    const before = open.contents
    const calls = Array.from({ length: 12 }, () => client.tools.call('holdsFile', { fileId: id }))
    const seen = (await Promise.all(calls)) as unknown as readonly { readonly contents: number }[]
    t.equal(open.most, 2, 'a key holds a quarter of the room')
    t.equal(open.contents - before, 12)
    const asked = seen.map((value) => value.contents - before).sort((one, other) => one - other)
    t.ok(
      asked.every((count, ended) => count <= ended + 3),
      'no content was asked for early',
    )
    const large = await client.files.upload({ name: 'b.bin', bytes: new Uint8Array(5 * 1024 * 1024) })
    await t.resolves(client.tools.call('holdsFile', { fileId: large.id }), 'one file may always be open')
  },
)

t.test('beyond the queue a call is refused as busy, under its seal, and says when to come back', async (t) => {
  const { client } = await stage(t, { queue: { all: 2, organization: 2 } })
  const all = availableParallelism() + 5
  const leaving = new AbortController()
  const refused: unknown[] = []
  const calls = Array.from({ length: all }, async () => {
    const fault = await client.tools.call('keepsBusy', {}, { signal: leaving.signal }).catch((error: unknown) => error)
    if (leaving.signal.aborted) return 'left'
    refused.push(fault)
    // The others work or wait until the last of those that find no place is told so.
    if (refused.length === 3) leaving.abort()
    return 'refused'
  })
  const ends = await Promise.all(calls)
  t.equal(ends.filter((end) => end === 'left').length, all - 3, 'all but those that work or wait')
  for (const refusal of refused) {
    t.match(refusal, { code: 'busy', status: 429 })
    const { retryAfter } = refusal as { retryAfter: number }
    t.ok(retryAfter >= 2_000 && retryAfter <= 4_000, `${retryAfter}`)
  }
  t.equal(
    new Set(refused.map((refusal) => (refusal as { retryAfter: number }).retryAfter)).size,
    3,
    'each at its own time',
  )
})

t.test('parameters that are longer than a tool takes are refused before they are read', async (t) => {
  const { client } = await stage(t, {})
  const call = (fileIds: readonly unknown[]) =>
    client.tools.call('searchRag', { query: 'x', fileIds: fileIds as readonly string[] })
  await t.resolves(call(Array(100).fill('a'.repeat(100))), 'the most that the schema takes')
  const fault = (work: Promise<unknown>) => work.catch((error: unknown) => error)
  t.match(await fault(call(Array(101).fill('a'))), { status: 400, code: 'invalid_parameters', field: 'fileIds' })
  const clock = quietClock()
  t.match(await fault(call(Array(100_000).fill(1))), { status: 400, code: 'invalid_parameters', field: null })
  const ms = clock()
  t.ok(ms < 3_000, `${Math.round(ms)} ms`)
})
