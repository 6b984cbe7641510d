import { UpstreamFailed } from '../../../../core/errors.ts'
import type { Clock, Fetch, Log } from '../../../../core/ports/platform.ts'
import type { Settings } from '../../../../core/settings.ts'
import { RpcError } from '../../../shared/dialects/mcp/rpc.ts'
import type { ServedTool, ToolResult } from '../served-tools.ts'
import type { ServerSettings } from '../settings.ts'
import { httpLine } from './http-line.ts'
import { inTime } from './in-time.ts'
import { digestOf, toolsIn } from './listed-tools.ts'
import { programLine } from './program-line.ts'
import { openSession } from './session.ts'
import { sessionsOf } from './sessions.ts'

/** Ms for which a list counts, and after a failure until the next try. */
const listLifeMs = 60_000
const restMs = 10_000
/** Ms for a handshake. */
const handshakeMs = 10_000
/** Sessions of one server by HTTP, and programs of one server. */
const mostSessions = { http: 64, programs: 4 }

/** What the gateway gives. */
export interface Given {
  readonly settings: Settings
  readonly fetch: Fetch
  readonly clock: Clock
  readonly log: Log
}

/** One server of the configuration. */
export interface ToolServer {
  /** The tools as the server listed them last; empty while the server is away. */
  tools(): readonly ServedTool[]
  /** Asks for the list where the known one is old. Null where no caller needs to wait. */
  renewed(): Promise<void> | null
  call(whose: string, tool: ServedTool, args: object, signal: AbortSignal): Promise<ToolResult>
  dispose(): void
}

/** For work that no caller ends. */
const never = (): AbortSignal => new AbortController().signal

const lineOf = ({ url, command, headers, args, env, network }: ServerSettings, fetch: Fetch) =>
  url === undefined ? programLine({ command: command!, args, env, network }) : httpLine(url, headers, fetch.upstream)

const begun = async (settings: ServerSettings, fetch: Fetch, signal: AbortSignal) =>
  openSession(await lineOf(settings, fetch), signal)

/** Withholds what differs from the first list that the server gave. */
const pinning = (server: string, log: Log) => {
  const first = new Map<string, string>()
  return (tools: readonly ServedTool[]): readonly ServedTool[] => {
    const isFirst = first.size === 0
    const kept = tools.filter((tool) => {
      const digest = digestOf(tool)
      if (isFirst) first.set(tool.own, digest)
      return first.get(tool.own) === digest
    })
    if (kept.length < tools.length) log.warn('mcp.changed', { server, withheld: tools.length - kept.length })
    return kept
  }
}

/** `listed` hears of each list that counts. */
export const toolServer = (
  name: string,
  settings: ServerSettings,
  { fetch, clock, log }: Given,
  listed: (tools: readonly ServedTool[]) => Promise<void>,
): ToolServer => {
  const open = () => inTime(clock, handshakeMs, never(), (signal) => begun(settings, fetch, signal))
  const sessions = sessionsOf(open, settings.url === undefined ? mostSessions.programs : mostSessions.http, clock)
  const pinned = settings.pin ? pinning(name, log) : (tools: readonly ServedTool[]) => tools
  let tools: readonly ServedTool[] = []
  let until = 0
  let [asking, isNew]: [Promise<void> | null, boolean] = [null, true]

  const take = async (found: readonly ServedTool[]): Promise<void> => {
    const known = new Map(tools.map((tool) => [digestOf(tool), tool]))
    // A tool that stays the same stays in the index.
    const next = pinned(found).map((tool) => known.get(digestOf(tool)) ?? tool)
    await listed(next)
    tools = next
  }
  const ask = async (): Promise<void> => {
    try {
      const list = await inTime(clock, settings.timeout, never(), (signal) =>
        sessions.work('', (session) => session.tools(signal), signal),
      )
      const sound = toolsIn(name, list.listed, settings.tools)
      if (list.more || (settings.tools === undefined && sound.length < list.listed.length))
        log.warn('mcp.bounded', { server: name, listed: list.listed.length, kept: sound.length })
      await take(sound)
      until = clock.now() + listLifeMs
    } catch (cause) {
      until = clock.now() + restMs
      log.error('mcp.failed', { server: name, work: 'list' }, cause)
    } finally {
      asking = null
      isNew = false
    }
  }

  return {
    tools: () => tools,
    renewed() {
      if (clock.now() >= until) asking ??= ask()
      return isNew ? asking : null
    },
    async call(whose, tool, args, outer) {
      try {
        return await inTime(clock, settings.timeout, outer, (signal) =>
          sessions.work(whose, (session) => session.call(tool, args, signal), signal),
        )
      } catch (error) {
        // The model that called reads what the server says.
        if (error instanceof RpcError) return { content: [{ type: 'text', text: error.message }], isError: true }
        if (error instanceof UpstreamFailed) log.error('mcp.failed', { server: name, work: 'call' }, error)
        throw error
      }
    },
    dispose: () => sessions.dispose(),
  }
}
