import { plugin } from '../../core/plugin.ts'
import { Surface } from '../../core/ports/surface.ts'
import { fileRoutes } from './files/files.ts'

const chapter = async () => (await import('./files/chapter.ts')).files

/** Files that callers seal before they send them. */
export default plugin({
  port: Surface,
  name: 'files',
  create: (): Surface => ({
    name: 'files',
    routes: [...fileRoutes],
    chapter,
  }),
})
