import { plugin } from '../../core/plugin.ts'
import { Surface } from '../../core/ports/surface.ts'
import { mcpRoutes } from './mcp/routes.ts'
import { mcpSettings } from './mcp/settings.ts'

/** TypeScript leaves the ending of an `import()` inside `export default` as it is, so this one stands outside. */
const chapter = async () => (await import('./mcp/chapter.ts')).chapter

/** Agents: the tools that may run in the clear, and decisions, by the Model Context Protocol at `/mcp`. */
export default plugin({
  port: Surface,
  name: 'mcp',
  sections: [mcpSettings],
  create: (): Surface => ({
    name: 'mcp',
    routes: mcpRoutes,
    chapter,
    links: () => ({ agents: '/mcp' }),
  }),
})
