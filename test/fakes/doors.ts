import type { Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { fetch as doors } from '../../adapters/production/platform.ts'
import type { Fitting } from '../../core/container.ts'
import { use } from '../../core/plugin.ts'
import type { Guard } from '../../core/ports/guard.ts'
import type { SettingsInput } from '../../core/settings.ts'
import anthropic from '../../plugins/providers/anthropic.ts'
import bedrock from '../../plugins/providers/bedrock.ts'
import gemini from '../../plugins/providers/gemini.ts'
import openai from '../../plugins/providers/openai.ts'
import { running, unhurried, type Running } from '../environments.ts'
import type { Asked, Recorded, Take } from './recorded.ts'
import { backend } from '../contracts/stage.ts'

/** Models by the dialect of their backend. */
export const backends = ['chat', 'responses', 'messages', 'gemini'] as const
export type Backend = (typeof backends)[number]
/** Those, and the dialect that no client speaks. */
export const behind = [...backends, 'converse'] as const
export type Behind = (typeof behind)[number]

export const own: Readonly<Record<Behind, string>> = {
  chat: 'gpt-own',
  responses: 'gpt-5.6-luna',
  messages: 'claude-opus-4-8',
  gemini: 'gemini-2.5-pro',
  converse: 'amazon.nova-pro-v1:0',
}

/** A backend of each dialect at one address. */
export const upstreamsAt = (url: string) => [
  use(openai, { baseUrl: `${url}/v1` }, 'chat'),
  use(openai, { baseUrl: `${url}/v1`, api: 'responses' }, 'responses'),
  use(anthropic, { apiKey: 'k', baseUrl: url }, 'messages'),
  use(gemini, { apiKey: 'k', baseUrl: `${url}/v1beta` }, 'gemini'),
  use(bedrock, { region: 'eu-west-1', apiKey: 'k', baseUrl: url, listUrl: url }, 'converse'),
]

export interface Doors extends Running {
  readonly backend: Recorded
  /** The last body that a backend was asked with. */
  asked(): any
}

/** A gateway whose models have backends that each speak one dialect. `names` are further models. */
export const opened = async (
  t: Test,
  play: (request: Asked) => Take | Promise<Take>,
  names: Readonly<Record<string, Behind>> = {},
  settings: SettingsInput = {},
  guards: readonly Fitting<Guard>[] = [],
): Promise<Doors> => {
  const recorded = await backend(t, play)
  const all = { ...Object.fromEntries(backends.map((name) => [name, name])), ...names } as Record<string, Behind>
  const models = Object.fromEntries(
    Object.entries(all).map(([name, provider]) => [name, { upstreams: [{ provider, model: own[provider] }] }]),
  )
  const gateway = await running(
    t,
    { ...memory(), fetch: use(doors), upstreams: upstreamsAt(recorded.url), guards },
    { models, routing: { retries: 0 }, ...unhurried, ...settings },
  )
  return { ...gateway, backend: recorded, asked: () => JSON.parse(recorded.asked.at(-1)!.body.toString()) }
}

/** The events of a stream, by their data. */
export const eventsOf = (text: string): readonly any[] =>
  text
    .split('\n\n')
    .flatMap((event) => event.split('\n'))
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)))
