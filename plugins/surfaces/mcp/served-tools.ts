import type { Caller } from '../../../core/access/caller.ts'

/** A tool of another server, as the gateway lists it. */
export interface ServedTool {
  /** The server by its name in the configuration. */
  readonly server: string
  /** As the server calls it. */
  readonly own: string
  readonly described: {
    /** With the name of the server in front. */
    readonly name: string
    readonly description: string
    readonly inputSchema: object
    readonly annotations: object
  }
}

/** What a tool of another server answers, in the form of the protocol. */
export interface ToolResult {
  readonly content: readonly object[]
  readonly structuredContent?: object
  readonly isError?: boolean
}

/** The servers of the configuration. */
export interface ToolServers {
  /** The tools that a caller may use, always in one order; those of a server that is away are missing. */
  tools(caller: Caller, signal: AbortSignal): Promise<readonly ServedTool[]>
  /** The same, best first, and at most so many. */
  find(caller: Caller, query: string, most: number, signal: AbortSignal): Promise<readonly ServedTool[]>
  call(caller: Caller, tool: ServedTool, args: object, signal: AbortSignal): Promise<ToolResult>
  dispose(): Promise<void>
}
