import { print } from '../../../core/dialects/json.ts'
import { readPlain } from '../../../core/dialects/read-json.ts'
import { BadRequest } from '../../../core/errors.ts'
import type { Request } from '../../../core/http/route.ts'
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

/** The arguments as objects of JavaScript. Throws BadRequest for arguments of more bytes. */
export const plainArguments = (args: Arguments, most: number): Record<string, unknown> => {
  const text = print(args)
  if (Buffer.byteLength(text) > most) throw new BadRequest('The arguments are too long')
  return readPlain(text) as Record<string, unknown>
}

/** A call of a tool ends with the signal, and its work on the main loop is its caller's. */
export type Running = Pick<Request<unknown, unknown, unknown>, 'signal' | 'pace'>

/** Something that an agent may call; `run` gives the text of its result, or the result as it is. */
export interface Offer {
  readonly described: { readonly name: string }
  run(args: Arguments, running: Running): Promise<string | ToolResult>
}
