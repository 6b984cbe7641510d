import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { fetch as doors } from '../../adapters/production/platform.ts'
import type { Fitting } from '../../core/container.ts'
import { use } from '../../core/plugin.ts'
import type { Guard } from '../../core/ports/guard.ts'
import { MetadataStore } from '../../core/ports/metadata-store.ts'
import type { SettingsInput } from '../../core/settings.ts'
import anthropic from '../../plugins/providers/anthropic.ts'
import openai from '../../plugins/providers/openai.ts'
import rehearsal from '../../plugins/providers/rehearsal.ts'
import { running, unhurried } from '../environments.ts'
import { until } from '../until.ts'
import { batchVendor } from './batch-vendor.ts'

const price = { standard: { eu: { prompt_price_per_k: 1, completion_price_per_k: 2, batch_factor: 0.5 } } }
/** What one answer of the vendor costs: 1,000 tokens read and 100 written, at half the price. */
export const each = 0.6

/** This gateway has two vendors with batches and one without them. */
export const batchHouse = async (t: Test, settings: SettingsInput = {}, guards: readonly Fitting<Guard>[] = []) => {
  const vendor = await batchVendor(t)
  const store = memory().metadataStore
  let rows: MetadataStore | null = null
  const gateway = await running(
    t,
    {
      ...memory(),
      metadataStore: { ...store, make: (supply) => (rows = store.make(supply)) },
      fetch: use(doors),
      guards,
      upstreams: [
        use(openai, { baseUrl: `${vendor.url}/v1`, apiKey: 'sk-house', batches: true }, 'vendor'),
        use(anthropic, { baseUrl: vendor.url, apiKey: 'sk-ant-house', batches: true }, 'claude'),
        use(openai, { baseUrl: `${vendor.url}/v1` }, 'plain'),
        use(rehearsal),
      ],
    },
    {
      models: {
        talk: { price_config: price, upstreams: [{ provider: 'vendor', model: 'gpt-own' }] },
        vectors: { type: 'EMBEDDING', price_config: price, upstreams: [{ provider: 'vendor', model: 'embed-own' }] },
        other: { price_config: price, upstreams: [{ provider: 'vendor', model: 'gpt-other' }] },
        unpriced: { upstreams: [{ provider: 'vendor', model: 'gpt-unheard' }] },
        claude: { price_config: price, upstreams: [{ provider: 'claude', model: 'claude-own' }] },
        plain: { upstreams: [{ provider: 'plain', model: 'gpt-own' }] },
        rehearsal: { upstreams: [{ provider: 'rehearsal' }] },
      },
      ...unhurried,
      ...settings,
    },
  )
  const clientOf = (apiKey: string) => new OpenAI({ apiKey, baseURL: `${gateway.base}/v1`, maxRetries: 0 })
  const claudeOf = (apiKey: string) => new Anthropic({ apiKey, authToken: null, baseURL: gateway.base, maxRetries: 0 })
  /** What is booked for a model, once so many requests are; the rows come in a moment. */
  const usage = async (model: string, requests: number): Promise<any> => {
    let found: any = {}
    await until(async () => {
      const { data } = (await (await gateway.call('GET', '/admin/usage')).json()) as any
      found = data.usage.find((row: any) => row.model === model) ?? { requests: 0, cost: 0 }
      return found.requests >= requests
    })
    return found
  }
  return {
    ...gateway,
    vendor,
    usage,
    rows: () => rows!,
    clientOf,
    claudeOf,
    client: clientOf(gateway.key),
    claude: claudeOf(gateway.key),
    owner: async (user: string) => (await gateway.gateway.keys.create({ user })).credential,
  }
}

/** So many lines of a file, piece by piece, in the form in which clients send it. */
export async function* manyLines(lines: number): AsyncGenerator<Uint8Array> {
  const head = 'content-disposition: form-data; name='
  yield Buffer.from(`--b\r\n${head}"purpose"\r\n\r\nbatch\r\n--b\r\n${head}"file"; filename="a"\r\n\r\n`)
  for (let at = 0; at < lines; at += 500) {
    const some = Array.from({ length: 500 }, (_, n) => `{"custom_id":"${at + n}","method":"POST","url":"/v1/embeddings","body":{"model":"vectors","input":"a"}}\n`) // prettier-ignore
    yield Buffer.from(some.join(''))
  }
  yield Buffer.from('\r\n--b--\r\n')
}
