import { BadRequest } from '../../../core/errors.ts'
import { createGateway } from '../../../core/gateway.ts'
import { plugin, use } from '../../../core/plugin.ts'
import { Fetch } from '../../../core/ports/platform.ts'
import type { TestCall, TriedParts } from '../../../plugins/surfaces/admin/configuration.ts'
import { parts } from '../../memory/parts.ts'
import { log as silence } from '../../memory/platform.ts'
import { fetch } from '../platform.ts'
import { type Config, settingsOf } from './config.ts'
import { partsInMemory } from './every-fault.ts'
import { nameIn } from './variables.ts'

/** In ms: the longest wait for the answer. */
const patienceMs = 20_000

const originOf = (address: unknown): readonly string[] =>
  typeof address === 'string' && URL.canParse(address) ? [new URL(address).origin] : []

/**
 * Addresses that the file has are reached as the gateway reaches them. Every other address passes the policy for addresses
 * that a caller names, so a trial finds nothing inside of a network.
 */
const guardedFetch = ({ outside, providers }: Config, tried: TriedParts['providers']) => {
  const own = Object.entries(providers).filter(([name]) => !Object.hasOwn(tried, name))
  const known = new Set(own.flatMap(([, { baseUrl }]) => originOf(baseUrl)))
  const isTried = Object.keys(tried).length > 0
  return plugin({
    port: Fetch,
    name: 'fetch',
    create(): Fetch {
      const real = use(fetch, { outside }).make(() => ({}) as never)
      if (!isTried) return real
      const { outside: door, dispose } = real
      return {
        upstream: (url, ask) => (known.has(new URL(url).origin) ? real.upstream(url, ask) : door(url, ask)),
        outside: door,
        ...(dispose && { dispose }),
      }
    },
  })
}

/** Throws BadRequest for a new backend whose secret does not come with the trial: no variable goes to a new address. */
const insistOnSecrets = ({ providers, secrets }: TriedParts): void => {
  for (const [name, { apiKey }] of Object.entries(providers)) {
    const variable = nameIn(apiKey)
    if (variable !== null && !Object.hasOwn(secrets, variable))
      throw new BadRequest('Validation failed', {
        validator: { [`providers.${name}.apiKey`]: 'Expected the value of the variable in secrets' },
      })
  }
}

/** The chain of one model, without limits and budgets: they are those of other callers. */
const settingsFor = (config: Config, model: string) => {
  const { models, routing, timeouts } = settingsOf(config)
  const own = models?.[model]
  if (own === undefined)
    throw new BadRequest('Validation failed', { validator: { call: 'Expected a model of the configuration' } })
  return { routing: { ...routing, retries: 0 }, timeouts, models: { [model]: own }, env: 'development' as const }
}

/** Sends a chat of a few tokens to one model, through the guards. The call costs what such a call costs. */
export const testCall = async (config: Config, tried: TriedParts, model: string): Promise<TestCall> => {
  insistOnSecrets(tried)
  const settings = settingsFor(config, model)
  const names = new Set(config.models[model]?.upstreams?.map(({ provider }) => provider))
  const providers = Object.fromEntries(Object.entries(config.providers).filter(([name]) => names.has(name)))
  const inMemory = await partsInMemory({ ...config, providers, tools: {}, surfaces: ['v1'] })
  const gateway = createGateway(
    { ...inMemory, parts, log: use(silence), fetch: use(guardedFetch(config, tried.providers)) },
    settings,
  )
  try {
    const { credential } = await gateway.keys.create({ scopes: ['chats.completion'] })
    const began = performance.now()
    const answer = await gateway.fetch(
      new Request('http://test.invalid/v1/chat/completions', {
        method: 'POST',
        headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, max_tokens: 16, messages: [{ role: 'user', content: 'Say yes.' }] }),
        signal: AbortSignal.timeout(patienceMs),
      }),
    )
    const fault = answer.ok ? null : sentenceOf(await answer.json())
    return { model, status: answer.status, ms: Math.round(performance.now() - began), fault }
  } finally {
    await gateway.close()
  }
}

/** The sentence of a refusal, which the gateway itself writes. */
const sentenceOf = (body: unknown): string => {
  const { error } = body as { readonly error?: { readonly message?: unknown } }
  return typeof error?.message === 'string' ? error.message : 'No answer'
}
