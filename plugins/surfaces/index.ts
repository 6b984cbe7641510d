import { plugin } from '../../core/plugin.ts'
import { Surface } from '../../core/ports/surface.ts'
import { retrievalRoutes } from './index/retrieval.ts'

const chapter = async () => (await import('./index/chapter.ts')).retrieval

/** The index of sealed files, for retrieval. */
export default plugin({
  port: Surface,
  name: 'index',
  create: (): Surface => ({
    name: 'index',
    routes: [...retrievalRoutes],
    chapter,
  }),
})
