import { unlessAborted } from '../../../../core/abort.ts'
import { type Caller, hasScope } from '../../../../core/access/caller.ts'
import type { ToolServers, ServedTool } from '../served-tools.ts'
import { mcpSettings } from '../settings.ts'
import { inTime } from './in-time.ts'
import { type Given, toolServer } from './one-server.ts'
import { toolIndex } from './tool-index.ts'

/** Ms that a caller waits for the first list of a server. */
const listPatienceMs = 5_000

/** All servers of one configuration. */
export const allServers = (given: Given): ToolServers => {
  const { servers } = mcpSettings.of(given.settings)
  const index = toolIndex()
  const all = new Map(
    Object.entries(servers)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, settings]) => {
        const server = toolServer(name, settings, given, (tools) => index.put(name, tools))
        return [name, { settings, server }] as const
      }),
  )

  const tools = async (caller: Caller, signal: AbortSignal): Promise<readonly ServedTool[]> => {
    if (!hasScope(caller, 'tools.execute')) return []
    const open = [...all.values()].filter(
      ({ settings: { organizations } }) => organizations?.includes(caller.organization) ?? true,
    )
    const waiting = open.flatMap(({ server }) => server.renewed() ?? [])
    if (waiting.length > 0)
      await inTime(given.clock, listPatienceMs, signal, (soon) => unlessAborted(Promise.all(waiting), soon)).catch(
        (error: unknown) => {
          // The tools of a slow server come with a later list.
          if (signal.aborted) throw error
        },
      )
    return open.flatMap(({ server }) => server.tools())
  }

  return {
    tools,
    find: async (caller, query, most, signal) => index.find(await tools(caller, signal), query, most),
    call: ({ organization, key }, tool, args, signal) =>
      all.get(tool.server)!.server.call(`${organization}\n${key}`, tool, args, signal),
    dispose: async () => all.forEach(({ server }) => server.dispose()),
  }
}
