import { shippedList } from '../../../../plugins/providers/shared/shipped-list.ts'
import t from 'tap'
import { usageOf } from '../../../../core/dialects/chat-completions.ts'
import { entryOf } from '../../../../core/inference/models/catalog-entry.ts'
import { candidateOf } from '../../../../plugins/shared/models/candidate.ts'
import type { Consumption } from '../../../../core/inference/metering/consumption.ts'
import type { Price } from '../../../../plugins/shared/prices.ts'
import { costOf } from '../../../../plugins/usage/metering/cost-of.ts'
import { pricesIn } from '../../../../adapters/production/prices-check.ts'
import { prices } from '../../../../plugins/usage/metering/prices.ts'
import { costOfParts } from '../../../../plugins/usage/metering/cost-of-parts.ts'
import { shipped, shippedPrice } from '../../../../plugins/providers/shared/shipped-prices.ts'
import type { Upstream } from '../../../../core/ports/upstream.ts'
import type { SettingsInput } from '../../../../core/settings.ts'
import { actor } from '../../../fakes/backends.ts'
import { checkedModel, checkedSettings } from '../../../fakes/checked-settings.ts'

const all: Price = {
  input: 2,
  output: 8,
  reasoning: 10,
  cached: 0.5,
  written: 2.5,
  writtenHour: 4,
  audioInput: 40,
  audioOutput: 80,
  character: 15,
  second: 100,
  image: 40_000,
  request: 1_000,
  terms: { batch: 0.5 },
  regions: { eu: 1.1 },
}

const chat: Consumption = {
  input: 1_000,
  output: 500,
  reasoning: 200,
  cached: 300,
  written: 100,
  writtenHour: 50,
  audioInput: 10,
  audioOutput: 20,
}

const lists = [shippedList.create({}, {}, 'shipped')]

t.test('each kind of use has its own price, and no token is charged twice', async (t) => {
  const sum = 540 * 2 + 300 * 0.5 + 100 * 2.5 + 50 * 4 + 10 * 40 + 280 * 8 + 200 * 10 + 20 * 80 + 1_000
  t.equal(costOf(all, chat), sum)
  t.equal(costOf(all, chat, { terms: 'batch' }), sum / 2)
  t.equal(costOf(all, chat, { region: 'eu' }), Math.round(sum * 1.1 * 1e3) / 1e3)
  t.equal(costOf(all, chat, { region: 'elsewhere' }), sum)
  t.equal(costOf(all, { input: 0, output: 0, images: 3 }), 121_000)
  const drawn = { input: 10, output: 100, images: 1 }
  t.equal(costOf({ image: 40_000 }, drawn), 40_000, 'an image by itself, not by its tokens too')
  t.equal(costOf({ input: 2, output: 8 }, drawn), 820, 'by its tokens where images have no price')
  t.equal(costOf({ input: 2, output: 8 }, { ...drawn, estimated: true }), null, 'and not by a guess at them')
  t.equal(costOf(all, { input: 0, output: 0, seconds: 90 }), 10_000)
  t.equal(costOf(all, { input: 7, output: 0, characters: 20 }), 1_300, 'by characters, not by tokens too')
  t.equal(costOf({ input: 2 }, { input: 7, output: 0, characters: 20 }), 14, 'by tokens where characters have no price')
  t.equal(costOf({ input: 0.02 }, { input: 1, output: 0 }), 0.02, 'a small cost is no 0')
  t.equal(costOf({ output: 8 }, { input: 0, output: 3, reasoning: 2 }), 24, 'reasoning as what is written')
})

t.test('an unknown price is null for each kind of use, and never 0', async (t) => {
  const needed = {
    input: { input: 1, output: 0 },
    output: { input: 0, output: 1 },
    cached: { input: 1, output: 0, cached: 1 },
    written: { input: 1, output: 0, written: 1 },
    writtenHour: { input: 1, output: 0, writtenHour: 1 },
    audioInput: { input: 1, output: 0, audioInput: 1 },
    audioOutput: { input: 0, output: 1, audioOutput: 1 },
    second: { input: 0, output: 0, seconds: 1 },
    image: { input: 0, output: 0, images: 1, estimated: true },
  } satisfies Partial<Record<keyof Price, Consumption>>
  for (const [name, used] of Object.entries(needed)) {
    t.type(costOf(all, used), 'number', name)
    t.equal(costOf({ ...all, [name]: undefined }, used), null, `without ${name}`)
  }
  t.equal(costOf({ ...all, character: undefined, input: undefined }, { input: 1, output: 0, characters: 4 }), null)
  t.equal(costOf({ ...all, terms: { night: 0.5 } }, chat, { terms: 'batch' }), null, 'no price for batches')
})

t.test('a long prompt has its own prices for the whole call, or none', async (t) => {
  const long: Price = { input: 1, output: 2, long: { above: 100, input: 3, output: 5 } }
  t.equal(costOf(long, { input: 100, output: 10 }), 120)
  t.equal(costOf(long, { input: 101, output: 10 }), 353)
  t.equal(costOf({ input: 1, output: 2, long: { above: 100 } }, { input: 101, output: 0 }), null)
  t.equal(costOf(long, { input: 300, output: 30, calls: 3 }), 360, 'calls that are short, each by itself')
  t.equal(costOf(long, { input: 303, output: 30, calls: 3 }), 303 * 3 + 150)
})

t.test('parts that a server tells beyond the whole make no bill smaller', async (t) => {
  const price: Price = { input: 2, output: 8, cached: 0.5, reasoning: 1 }
  t.equal(costOf(price, { input: 10, output: 0, cached: 1_000 }), 500)
  t.equal(costOf(price, { input: 0, output: 1, reasoning: 97 }), 97)
})

t.test('what backends tell of caches and sound is read', async (t) => {
  t.same(
    usageOf({
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 30, audio_tokens: 5 },
      completion_tokens_details: { reasoning_tokens: 7, audio_tokens: 4 },
      cache_creation_input_tokens: 40,
      cache_creation: { ephemeral_5m_input_tokens: 25, ephemeral_1h_input_tokens: 15 },
    }),
    { input: 100, output: 20, reasoning: 7, cached: 30, written: 25, writtenHour: 15, audioInput: 5, audioOutput: 4 },
  )
  t.same(usageOf({ prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, cache_creation_input_tokens: 'x' }), {
    input: 1,
    output: 1,
  })
  const details = { cached_tokens: 2_000, cache_write_tokens: 400 }
  const wire = { prompt_tokens: 2_600, completion_tokens: 10, total_tokens: 2_610, prompt_tokens_details: details }
  const used = usageOf(wire)!
  t.same(used, { input: 2_600, output: 10, cached: 2_000, written: 400 })
  t.equal(costOf({ input: 4, output: 1, cached: 0.4, written: 5 }, used), 200 * 4 + 2_000 * 0.4 + 400 * 5 + 10)
  t.same(usageOf({ ...wire, cache_creation_input_tokens: 0 })?.written, 400, 'in whichever place a server tells of it')
  t.equal(costOf(shippedPrice('openai', 'gpt-4.1')!, used), 600 * 2 + 2_000 * 0.5 + 10 * 8, 'as any of the prompt')
})

t.test('the shipped table is dated, has its sources, and only prices above nothing', async (t) => {
  for (const [vendor, { asOf, sources, models }] of Object.entries(shipped)) {
    t.match(asOf, /^20\d\d-\d\d-\d\d$/)
    t.ok(sources.length > 0 && sources.every((source) => source.startsWith('https://')), vendor)
    for (const [name, { regions: _, long: __, terms = {}, ...price }] of Object.entries(models))
      for (const [kind, each] of Object.entries({ ...price, ...terms })) t.ok((each as number) > 0, `${name} ${kind}`)
  }
  t.equal(shippedPrice('openai', 'gpt-4.1-2025-04-14')?.input, 2, 'a dated version')
  t.equal(shippedPrice('anthropic', 'claude-haiku-4-5-20251001')?.writtenHour, 2)
  t.equal(shippedPrice('openai', 'gpt-4.1-unheard'), null)
  const heard = { input: 1_000, output: 0, audioInput: 800 }
  t.equal(costOf(shippedPrice('gemini', 'gemini-2.5-flash')!, heard), 200 * 0.3 + 800, 'sound by its own price')
  t.equal(costOf(shippedPrice('gemini', 'gemini-2.5-pro')!, heard), 1_250, 'sound as any of the prompt')
  t.equal(costOf(shippedPrice('gemini', 'gemini-2.5-pro')!, { ...heard, input: 300_000 }), 750_000, 'a long one too')
  t.equal(shippedPrice('toString', 'gpt-4.1'), null)
})

const vendor = (name: string, of?: string): Upstream => ({
  ...actor(name, []),
  ...(of !== undefined && { vendor: of }),
})
const million = { input: 1_000_000, output: 0 }

t.test('the configuration is before the table, and two currencies are never added', async (t) => {
  const priced = { price_config: { standard: { eu: { prompt_price_per_k: 0.003 } } }, upstreams: [{ provider: 'a' }] }
  const free = { upstreams: [{ provider: 'a' }] }
  const entryFor = (model: object, upstreams = [vendor('a', 'openai'), vendor('b')]) =>
    entryOf(
      'gpt-5',
      checkedModel(model),
      upstreams.map((upstream) => candidateOf(upstream, 'gpt-5')),
    )
  const plain = prices(checkedSettings({ models: { 'gpt-5': free } }), lists)
  t.equal(plain.costOf(entryFor(free), 'a', 'standard', million), 1_250_000)
  t.equal(plain.costOf(entryFor(free), 'b', 'standard', million), null, 'no vendor')
  t.equal(plain.mostOf(entryFor(free), 'standard', million), null, 'one of its backends has no price')
  const other = prices(checkedSettings({ models: { a: priced, 'gpt-5': free } }), lists)
  t.equal(other.costOf(entryFor(free), 'a', 'standard', million), null, 'nobody said that the prices are in dollars')
  t.equal(other.costOf(entryFor(priced), 'b', 'standard', million), 3_000_000)
  const dollars = prices(checkedSettings({ prices: { currency: 'USD' }, models: { a: priced, 'gpt-5': free } }), lists)
  t.equal(dollars.costOf(entryFor(free), 'a', 'standard', million), 1_250_000)
  const euros = prices(checkedSettings({ prices: { currency: 'EUR' }, models: { 'gpt-5': free } }), lists)
  t.equal(euros.costOf(entryFor(free), 'a', 'standard', million), null)
  t.equal(dollars.mostOf(null, 'standard', million), 3_000_000, 'the dearest that is configured')
  t.equal(dollars.mostOf(null, 'confidential', million), null)
})

t.test('a rescued call costs the sum of its parts, and one request', (t) => {
  const chain = [candidateOf(vendor('a', 'openai'), 'gpt-4.1'), candidateOf(vendor('b', 'gemini'), 'gemini-2.5-pro')]
  const costIn = (settings: object, used: Consumption) => {
    const entry = entryOf('m', checkedModel({ upstreams: [{ provider: 'a' }], ...settings }), chain)
    const served = { ...entry, candidates: chain.slice(0, 1) }
    const all = prices(checkedSettings({ models: {}, prices: { currency: 'USD' } }), lists)
    const servedBy = (by: string) => ({ ...entry, candidates: chain.filter(({ id }) => id === by) })
    return costOfParts(all, { servedBy, served, backend: 'a', mode: 'standard' }, used)
  }
  const broken = [
    { by: 'b/gemini-2.5-pro', upTo: { input: 150_000, output: 10, cached: 50_000 } },
    { by: 'b/gemini-2.5-pro', upTo: { input: 300_000, output: 20, cached: 50_000 } },
  ]
  const used = { input: 300_100, output: 30, cached: 50_000, broken }
  t.equal(costIn({}, used), 250_000 * 1.25 + 50_000 * 0.125 + 20 * 10 + 100 * 2 + 10 * 8, 'no prompt is a long one')
  const long = { input: 250_000, output: 0 }
  t.equal(costIn({}, { ...long, broken: [{ by: 'b/gemini-2.5-pro', upTo: long }] }), 250_000 * 2.5, 'a long one is')
  const standard = { eu: { prompt_price_per_k: 0.001, completion_price_per_k: 0.001, request_price: 0.5 } }
  t.equal(costIn({ price_config: { standard } }, used), 300_100 + 30 + 500_000)
  t.equal(
    costIn({}, { ...long, broken: [{ by: 'c/unheard', upTo: long }] }),
    null,
    'a part without a price leaves all of it without',
  )
  t.end()
})

t.test('money, and what divides calls, has an end in every setting', (t) => {
  const small = (more: object) => ({ models: { small: { upstreams: [{ provider: 'a' }], ...more } } })
  const wrong: Readonly<Record<string, SettingsInput>> = {
    'models.small.price_config.standard.eu.image_price': small({
      price_config: { standard: { eu: { image_price: Infinity } } },
    }),
    'models.small.upstreams.0.weight': small({ upstreams: [{ provider: 'a', weight: Infinity }] }),
    'models.small.calibration.temperature': small({ calibration: { id: 'a', temperature: Infinity } }),
    'quotas.windows.0.cost': { quotas: { windows: [{ of: 'key', per: 'day', cost: Infinity }] } },
    'mcp.servers.tools.price': { mcp: { servers: { tools: { url: 'https://tools.example', price: Infinity } } } },
    'limits.key.costPerDay': { limits: { key: { costPerDay: Infinity } } },
  }
  for (const [path, settings] of Object.entries(wrong)) t.throws(() => checkedSettings(settings), { message: `settings: ${path} expected a finite number` }) // prettier-ignore
  t.end()
})

t.test('a call of a named model looks at no list of all models', async (t) => {
  let looks = 0
  const { models, ...settings } = checkedSettings({ models: { 'gpt-5': { upstreams: [{ provider: 'a' }] } } })
  const watched = new Proxy(models, {
    ownKeys(all) {
      looks++
      return Reflect.ownKeys(all)
    },
  })
  const { mostOf } = prices({ ...settings, models: watched }, lists)
  looks = 0
  mostOf({ name: 'gpt-5', settings: models['gpt-5']! }, 'standard', million)
  t.equal(looks, 0)
  mostOf(null, 'standard', million)
  t.equal(looks, 1, 'a sealed call may ask for any of them')
})

t.test('the check tells which served models have no price', async (t) => {
  const models: SettingsInput['models'] = {
    'gpt-5': { confidential: true, upstreams: [{ provider: 'a' }, { provider: 'b' }] },
    drawer: { type: 'IMAGE', upstreams: [{ provider: 'b' }] },
  }
  const settings = checkedSettings({ models })
  const entries = Object.entries(settings.models).map(([name, model]) =>
    entryOf(name, model, [
      ...(name === 'gpt-5' ? [candidateOf(vendor('a', 'openai'), name)] : []),
      candidateOf(vendor('b'), name),
    ]),
  )
  const sealed = [{ name: 'gpt-5', settings: settings.models['gpt-5']! }]
  const enclave = { models: async () => sealed }
  const supply = () => ({ catalog: { list: async () => entries }, enclave, settings, lists })
  const { models: told, lists: known } = await pricesIn(supply as never, new AbortController().signal)
  t.same(
    told.map(({ model, mode, backend, known }) => [model, mode, backend, known]),
    [
      ['gpt-5', 'standard', 'a', true],
      ['gpt-5', 'standard', 'b', false],
      ['drawer', 'standard', 'b', false],
      ['gpt-5', 'confidential', null, false],
    ],
  )
  t.same(Object.keys(known), Object.keys(shipped))
})
