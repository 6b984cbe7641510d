import { plugin } from '../../core/plugin.ts'
import type { Tool } from '../../core/ports/tool.ts'
import { Surface } from '../../core/ports/surface.ts'
import { toolRoutes } from './tools/tools.ts'

const chapter = async (tools: readonly Tool[]) => (await import('./tools/chapter.ts')).toolsOf(tools)

/** Tools that run inside the enclave. */
export default plugin({
  port: Surface,
  name: 'tools',
  create: (): Surface => ({
    name: 'tools',
    routes: [...toolRoutes],
    chapter,
  }),
})
