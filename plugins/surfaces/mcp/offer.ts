import type { ChatFilter } from '../../../core/ports/chat-filter.ts'
import type { Tool } from '../../../core/ports/tool.ts'
import type { OrderedJson } from '../../../core/ports/upstream.ts'
import type { CallerDecisionNeeds } from '../../shared/decisions/decision-needs.ts'
import type { ToolServers, ToolResult } from './served-tools.ts'

/** Bytes of a tool's arguments where the tool names no others. */
export const usualParams = 16 * 1024

/** The tools of the gateway and of other servers, and what a decision needs. */
export interface ClearNeeds extends CallerDecisionNeeds {
  readonly tools: readonly Tool[]
  readonly servers: ToolServers
  readonly filters: readonly ChatFilter[]
}

/** The arguments of a call in the order of the caller. */
export type Arguments = ReadonlyMap<string, OrderedJson>
/** Something that an agent may call; `run` gives the text of its result, or the result as it is. */
export interface Offer {
  readonly described: { readonly name: string }
  run(args: Arguments, signal: AbortSignal): Promise<string | ToolResult>
}
