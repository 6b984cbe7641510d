import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import cache from '../adapters/memory/cache.ts'
import { clock, fetch, log, random } from '../adapters/memory/platform.ts'
import { memory } from '../adapters/memory/index.ts'
import { readers } from '../adapters/memory/readers.ts'
import { connect, newKek, newRagDek } from '../plugins/sealed/client/client.ts'
import { buildEnclave } from '../plugins/sealed/enclave/assemble.ts'
import { plugin, use } from '../core/plugin.ts'
import { Enclave } from '../core/ports/enclave.ts'
import { Upstream } from '../core/ports/upstream.ts'
import type { SettingsInput } from '../core/settings.ts'
import dev from '../plugins/evidence/dev.ts'
import audioGenerateFromText from '../plugins/tools/audioGenerateFromText.ts'
import generateImage from '../plugins/tools/generateImage.ts'
import searchRag from '../plugins/tools/searchRag.ts'
import { blocksOf } from './docs/blocks.ts'
import { running, unhurried } from './environments.ts'
import { until } from './until.ts'
import { given } from './fitted.ts'

const upstreams = [{ provider: 'studio' }]
const models = {
  brush: { type: 'IMAGE', confidential: true, upstreams },
  pen: { type: 'IMAGE', confidential: true, upstreams },
  voice: { type: 'AUDIO_SPEECH', confidential: true, upstreams },
  vectors: { type: 'EMBEDDING', confidential: true, upstreams },
} as const

/** A gateway with an enclave whose one backend notes which model was asked. */
const stage = async (t: Test, drawing: { readonly model?: string } = {}, more: SettingsInput = {}) => {
  const asked: string[] = []
  const sound = { mime: 'audio/wav', bytes: Buffer.from('RIFF') }
  const studio: Upstream = {
    name: 'studio',
    models: async () => [],
    draw: async ({ model }) => (asked.push(model), [{ mime: 'image/png', bytes: Buffer.from('png') }]),
    speak: async ({ model }) => (asked.push(model), sound),
    embed: async ({ model, texts }) => {
      asked.push(model)
      return { vectors: texts.map(() => Float32Array.of(0.6, 0.8)), usage: { input: 1, output: 0 } }
    },
  }
  const backend = given(Upstream, 'studio', () => studio)
  const tools = [use(generateImage, drawing), use(audioGenerateFromText), use(searchRag)]
  const base = { clock: use(clock), random: use(random), fetch: use(fetch), log: use(log), cache: use(cache) }
  const within = { ...base, prover: use(dev), upstreams: [backend], tools, readers }
  const enclave = plugin({
    port: Enclave,
    name: 'studio',
    create: (): Enclave => buildEnclave(within, { models }, { retrieval: { model: 'vectors' } }, new Uint8Array(32)),
  })
  const adapters = { ...memory(), upstreams: [backend], tools, enclave: use(enclave) }
  const gateway = await running(t, adapters, { ...unhurried, models, ...more })
  return {
    /** A client whose key may use these models, and which models were asked for it. */
    async client(models: readonly string[] | null) {
      const { credential } = await gateway.gateway.keys.create({ models })
      const kek = newKek()
      const own = { kek, wrappedRagDek: newRagDek(kek), policy: { allowInsecureDev: true } }
      const client = connect({ baseUrl: gateway.base, apiKey: credential, ...own })
      const employed = async (work: () => Promise<unknown>): Promise<readonly string[] | object> => {
        asked.length = 0
        const fault = await work().then(
          () => null,
          ({ code, field }) => ({ code, field }),
        )
        t.ok(fault === null || asked.length === 0, 'a refusal asked no model')
        return fault ?? [...new Set(asked)]
      }
      const draw = () => employed(() => client.tools.call('generateImage', { prompt: 'a heron' }))
      const speak = () => employed(() => client.tools.call('audioGenerateFromText', { text: 'Hi.' }))
      return { client, employed, draw, speak }
    },
  }
}

const unconfigured = { code: 'not_configured', field: 'models' }

t.test('a tool employs the first model that the key of its caller may use', async (t) => {
  const { client } = await stage(t)
  t.same(await (await client(null)).draw(), ['brush'])
  t.same(await (await client(['vectors', 'pen'])).draw(), ['pen'])
  t.same(await (await client(['voice'])).draw(), unconfigured)
  t.same(await (await client([])).draw(), unconfigured)
  t.same(await (await client(['voice'])).speak(), ['voice'])
  t.same(await (await client(['pen'])).speak(), [], 'the package speaks where the key may use no model that does')
})

t.test('a tool whose settings name a model that the key may not use is not configured for its caller', async (t) => {
  const { client } = await stage(t, { model: 'pen' })
  t.same(await (await client(['brush'])).draw(), unconfigured)
  t.same(await (await client(['pen'])).draw(), ['pen'])
})

t.test('vectors for an index and a search are made by a model that the key may use, or not at all', async (t) => {
  const { client } = await stage(t)
  for (const [models, expected] of [
    [['vectors'], ['vectors']],
    [['pen'], []],
  ] as const) {
    const { client: caller, employed } = await client(models)
    const note = { name: 'note.txt', mime: 'text/plain', bytes: Buffer.from('The ferry leaves at noon.') }
    const { id } = await caller.files.upload(note)
    const indexed = async () => {
      await caller.files.index([id])
      t.ok(
        await until(
          async () => (await caller.files.list()).files.find((file) => file.id === id)?.rag_status === 'completed',
        ),
      )
    }
    t.same(await employed(indexed), expected, `${models}: indexed`)
    const search = () => caller.tools.call('searchRag', { query: 'ferry' })
    t.match(await search(), { results: [{ fileId: id }] }, 'words alone find it, too')
    t.same(await employed(search), expected, `${models}: searched`)
  }
})

t.test('a model whose window has no room works for no tool, and the next one does', async (t) => {
  const quotas: SettingsInput['quotas'] = { windows: [{ of: 'key', model: 'brush', requests: 1, per: 'day' }] }
  const { client } = await stage(t, {}, { quotas })
  const { draw } = await client(null)
  t.same(await draw(), ['brush'])
  t.ok(await until(async () => isDeepStrictEqual(await draw(), ['pen'])))
  const narrow = await client(['brush'])
  t.same(await narrow.draw(), ['brush'], 'another key has a window of its own')
  const refused = { code: 'busy', field: null }
  t.ok(await until(async () => isDeepStrictEqual(await narrow.draw(), refused)), 'a key without another model waits')
})

t.test('a model works for a tool that is written outside the repository, and the caller pays', async (t) => {
  const file = join(t.testdir(), 'sumUp.js')
  const page = await readFile('docs/adding-a-tool.md', 'utf8')
  await writeFile(file, blocksOf(page).find(({ mark }) => mark === 'own file sumUp.js')!.text)
  const { default: sumUp } = (await import(pathToFileURL(file).href)) as { readonly default: typeof generateImage }
  const { gateway, base, logged } = await running(t, { ...memory(), tools: [use(sumUp)] })
  const { credential: apiKey } = await gateway.keys.create({})
  const client = connect({ baseUrl: base, apiKey, policy: { allowInsecureDev: true } })
  t.match(await client.tools.call('sumUp', { text: 'A heron stood.' }), {
    model: 'rehearsal',
    summary: /Sum up: A heron stood\.$/,
  })
  t.match(logged.at(-1)?.facts, { model: 'rehearsal', tokens: Number })
})
