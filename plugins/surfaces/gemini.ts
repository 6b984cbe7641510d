import { plugin } from '../../core/plugin.ts'
import { Surface } from '../../core/ports/surface.ts'
import { generateContent } from './gemini/generate-content.ts'
import { asGoogle } from './gemini/dialect-route.ts'
import { models } from './gemini/models.ts'

/** TypeScript leaves the ending of an `import()` inside `export default` as it is, so this one stands outside. */
const chapter = async () => (await import('./gemini/chapter.ts')).chapter

/** Clients of Gemini: contents, their tokens, and lists of models under `/v1beta`. The name `v1` serves it too. */
export default plugin({
  port: Surface,
  name: 'gemini',
  create: (): Surface => ({
    name: 'gemini',
    servedWith: 'v1',
    routes: [...generateContent, ...models],
    chapter,
    lost: { '/v1beta/': asGoogle },
    links: () => ({ gemini: '/v1beta' }),
    clients: () => ({ Gemini: '' }),
  }),
})
