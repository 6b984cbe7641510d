import { one } from '../../../core/container.ts'
import { lazy, plugin } from '../../../core/plugin.ts'
import { Clock, Fetch, Log } from '../../../core/ports/platform.ts'
import { Settings } from '../../../core/settings.ts'
import type { ToolServers } from './served-tools.ts'

/** The port of the servers whose tools the gateway offers. */
export const McpServers = one<ToolServers>('McpServers')

/** Sessions, programs and lists end with the generation whose configuration names the servers. */
export const mcpServers = plugin({
  port: McpServers,
  name: 'mcp-servers',
  renewed: true,
  needs: { settings: Settings, fetch: Fetch, clock: Clock, log: Log },
  create(given): ToolServers {
    let made: ToolServers | null = null
    const servers = lazy(async () => (made ??= (await import('./upstream/all-servers.ts')).allServers(given)))
    return {
      tools: async (...args) => (await servers()).tools(...args),
      find: async (...args) => (await servers()).find(...args),
      call: async (...args) => (await servers()).call(...args),
      dispose: async () => made?.dispose(),
    }
  },
})
