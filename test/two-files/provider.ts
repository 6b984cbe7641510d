/** The two files of a new provider, by their paths. */
export const provider: Readonly<Record<string, string>> = {
  'plugins/providers/pigeon.ts': `import { plugin } from '../../core/plugin.ts'
import { Upstream } from '../../core/ports/upstream.ts'
import { hostedChat, refusedFields } from './shared/hosted-chat.ts'

const refused = refusedFields('logit_bias')

/** The API of Pigeon. */
export default plugin({
  port: Upstream,
  name: 'pigeon',
  ...hostedChat({
    address: 'https://api.pigeon.example/v1',
    words: () => ({
      unheard: () => refused,
      modelOf: ({ id }) => (typeof id === 'string' ? { id, type: 'CHAT' } : null),
    }),
  }),
})
`,
  'test/plugins/providers/pigeon.test.ts': `import t from 'tap'
import pigeon from '../../../plugins/providers/pigeon.ts'
import { conform } from '../../contracts/contract.ts'
import { upstream } from '../../contracts/upstream.ts'
import { eventStream, staged } from '../../contracts/stage.ts'

t.test('contract', (t) =>
  conform(t, upstream.contract, (t) =>
    staged(t, {
      provider: pigeon,
      settings: (url) => ({ apiKey: 'key-1', baseUrl: url + '/v1' }),
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
