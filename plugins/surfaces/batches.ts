import { plugin } from '../../core/plugin.ts'
import { Surface } from '../../core/ports/surface.ts'
import { batchRoutes } from './batches/batch-routes.ts'
import { fileRoutes } from './batches/file-routes.ts'
import { messageBatchRoutes } from './batches/message-batch-routes.ts'

/** TypeScript leaves the ending of an `import()` inside `export default` as it is, so this one stands outside. */
const chapter = async () => (await import('./batches/chapter.ts')).chapter

/** Batches and their files, for clients of OpenAI and Anthropic, relayed to vendors that have them. The name `v1` serves it too. */
export default plugin({
  port: Surface,
  name: 'batches',
  create: (): Surface => ({
    name: 'batches',
    servedWith: 'v1',
    routes: [...fileRoutes, ...batchRoutes, ...messageBatchRoutes],
    chapter,
  }),
})
