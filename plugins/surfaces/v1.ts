import { mediaRoutes } from './shared/media.ts'
import { plugin } from '../../core/plugin.ts'
import { Surface } from '../../core/ports/surface.ts'
import { chatCompletions } from './v1/chat-completions.ts'
import { asMessages } from './shared/dialect-route.ts'
import { asUnknownUrl, atV1 } from './v1/dialect-route.ts'
import { messages } from './v1/messages.ts'
import { models } from './v1/models.ts'
import { judgements } from './v1/judgements.ts'
import { responses } from './v1/responses.ts'
import { betas } from '../shared/dialects/betas-settings.ts'
import { sockets } from './v1/settings.ts'

/** TypeScript leaves the ending of an `import()` inside `export default` as it is, so this one stands outside. */
const chapter = async () => (await import('./v1/chapter.ts')).chapter

/** Clients of OpenAI and Anthropic: chat completions, responses, messages, vectors, images and sound, and lists of models. */
export default plugin({
  port: Surface,
  name: 'v1',
  sections: [betas, sockets],
  create: (): Surface => ({
    name: 'v1',
    routes: [atV1(chatCompletions), ...responses, ...judgements, ...messages, ...models, ...mediaRoutes.map(atV1)],
    chapter,
    lost: {
      ...{ '/v1/': asUnknownUrl, '/openai/': asUnknownUrl, '/api/v1/': asUnknownUrl },
      ...{ '/v1/messages': asMessages, '/anthropic/': asMessages },
    },
    links: ({ v1 }) => ({ openai: `/${v1}`, anthropic: '/' }),
    clients: ({ v1 }) => ({ OpenAI: `/${v1}`, Anthropic: '' }),
  }),
})
