/** The two files of a new provider, by their paths. */
export const provider: Readonly<Record<string, string>> = {
  'plugins/providers/pigeon.ts': `import * as v from 'valibot'
import { BaseUrl } from '../../core/dialects/backend.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Fetch } from '../../core/ports/platform.ts'
import { Upstream } from '../../core/ports/upstream.ts'
import { chatBackend } from './shared/chat-backend.ts'

export default plugin({
  port: Upstream,
  name: 'pigeon',
  settings: v.strictObject({ baseUrl: BaseUrl }),
  needs: { fetch: Fetch, clock: Clock },
  create({ fetch, clock }, { baseUrl }, name): Upstream {
    const modelOf = ({ id }: Readonly<Record<string, unknown>>) =>
      typeof id === 'string' ? { id, type: 'CHAT' as const } : null
    return { name, ...chatBackend({ fetch, clock, baseUrl, headers: {}, modelOf }) }
  },
})
`,
  'test/plugins/providers/pigeon.test.ts': `import t from 'tap'
import pigeon from '../../../plugins/providers/pigeon.ts'
import { conform } from '../../contracts/contract.ts'
import { upstream } from '../../contracts/upstream.ts'
import { eventStream, staged } from '../../fakes/stage.ts'

t.test('contract', (t) =>
  conform(t, upstream.contract, (t) =>
    staged(t, {
      provider: pigeon,
      settings: (url) => ({ baseUrl: url + '/v1' }),
      model: 'Qwen/Qwen3-8B',
      vectors: 'sglang',
      stream: eventStream,
      lists: /^\\/v1\\/models$/,
      chats: /^\\/v1\\/chat\\/completions$/,
    }),
  ),
)
`,
}
