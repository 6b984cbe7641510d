import type { Test } from 'tap'
import { checkedConfig, settingsOf } from '../../adapters/production/config/config.ts'
import { pluginNames } from '../../adapters/production/config/load-plugin.ts'
import { production } from '../../adapters/production/index.ts'
import type { SettingsInput } from '../../core/settings.ts'
import { running, unhurried } from '../environments.ts'
import { jsonTake } from '../fakes/at-work.ts'
import { literalClient } from '../fakes/literal-client.ts'
import { recorded } from '../fakes/recorded.ts'
import { play } from './backend.ts'
import type { Scene } from './row.ts'

/** Calls that wait for their release. */
const gate = () => {
  const waiting: (() => void)[] = []
  return {
    pass: () => new Promise<void>((resolve) => void waiting.push(resolve)),
    held: { waiting: () => waiting.length, release: () => waiting.splice(0).forEach((go) => go()) },
  }
}

const priced = {
  regions: ['eu'],
  price_config: { standard: { eu: { prompt_price_per_k: 0.1, completion_price_per_k: 0.2 } } },
}

/** A gateway of the production environment with backends behind real sockets. */
export const sceneOf = async (t: Test): Promise<Scene> => {
  const { pass, held } = gate()
  const backend = await recorded(play)
  const slow = await recorded(async (request) => {
    if (request.path.endsWith('/chat/completions')) await pass()
    return play(request)
  })
  const broken = await recorded(() => jsonTake({ error: { message: 'It broke.' } }, 500))
  for (const server of [backend, slow, broken]) t.teardown(() => server.close())
  const provider = ({ url }: { readonly url: string }) => ({ use: 'openai', baseUrl: `${url}/v1`, apiKey: 'k' })
  const upstreams = [{ provider: 'openai' }]
  const config = checkedConfig(
    {
      log: { level: 'silent' },
      providers: { openai: provider(backend), slow: provider(slow), broken: provider(broken) },
      models: {
        seer: { confidential: true, input_modalities: ['text', 'image'], ...priced, upstreams },
        vault: { confidential: true, standard: false, upstreams },
        decider: { decide: true, input_modalities: ['text', 'image'], upstreams },
        painter: { type: 'IMAGE', confidential: true, upstreams },
        listener: { type: 'AUDIO_TRANSCRIPTION', confidential: true, upstreams },
        slow: { decide: true, upstreams: [{ provider: 'slow' }] },
        'slow-vault': { confidential: true, standard: false, upstreams: [{ provider: 'slow' }] },
        broken: { decide: true, upstreams: [{ provider: 'broken' }] },
      },
      timeouts: { heartbeat: 50 },
      routing: { retries: 0 },
      outside: { allow: ['127.0.0.1'], ports: [Number(new URL(backend.url).port)] },
      tools: {
        ...Object.fromEntries(pluginNames('tools').map((name) => [name, {}])),
        webSearchTool: { provider: 'searxng', baseUrl: backend.url },
      },
    },
    {},
  )
  const gateway = await running(t, await production(config, t.testdir()), {
    ...settingsOf(config),
    ...unhurried,
  } as SettingsInput)
  let users = 0
  return {
    gateway,
    client: literalClient(gateway.base, gateway.key),
    asked: backend.asked,
    page: `${backend.url}/page`,
    held,
    async scoped(...scopes) {
      const { credential } = await gateway.gateway.keys.create({ user: `user-${++users}`, scopes: scopes as never })
      return literalClient(gateway.base, credential)
    },
  }
}
