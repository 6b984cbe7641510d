import type { Test } from 'tap'
import * as v from 'valibot'
import cache from '../../adapters/memory/cache.ts'
import { clock, log, random } from '../../adapters/memory/platform.ts'
import { fetch } from '../../adapters/production/platform.ts'
import { inference } from '../../core/inference/inference.ts'
import { catalog } from '../../plugins/shared/models/catalog.ts'
import { use, type AnyPlugin } from '../../core/plugin.ts'
import { Tool } from '../../core/ports/tool.ts'
import { type ModelInput, Settings, SettingsShape } from '../../core/settings.ts'
import openai from '../../plugins/providers/openai.ts'
import { fitted, given } from '../fitted.ts'
import type { Asked, Recorded, Take } from './recorded.ts'
import { backend } from '../contracts/stage.ts'

export interface AtWork {
  readonly tool: Tool
  /** What the backend was asked, in this order. */
  readonly asked: Recorded['asked']
}

type Models = Record<string, ModelInput>

/** A model of that name, which its backend calls `its-<name>`. */
export const modelOf = (name: string, more: Partial<Models[string]> = {}): Models => ({
  [name]: { ...more, upstreams: [{ provider: 'backend', model: `its-${name}` }] },
})

/** A tool that has models to work with: real routing, a real provider, and behind its socket a backend that plays what it is given. */
export const atWork = async (
  t: Test,
  plugin: AnyPlugin,
  models: Models,
  play: (request: Asked) => Take | Promise<Take>,
  settings: object = {},
): Promise<AtWork> => {
  const server = await backend(t, play)
  const told = v.parse(SettingsShape, { models, routing: { retries: 0 } })
  const providers = Object.keys(models).length === 0 ? [] : [use(openai, { baseUrl: server.url }, 'backend')]
  const container = fitted(
    ...[given(Settings, 'settings', () => told), use(catalog), use(inference)],
    ...[use(clock), use(random), use(log), use(cache), use(fetch), ...providers, use(plugin, settings)],
  )
  t.teardown(() => container.dispose())
  return { tool: container.supply({ tools: Tool }).tools[0] as Tool, asked: server.asked }
}

export const jsonTake = (body: object, status = 200): Take => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

/** What a chat backend says. */
export const said = (content: string): Take =>
  jsonTake({
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'its-own-name',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  })
