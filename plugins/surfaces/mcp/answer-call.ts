import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from '../../../core/access/caller.ts'
import { type ClientMessage, checkHeaders, messageOf, statusOf } from '../../shared/dialects/mcp/exchange.ts'
import { protocol } from '../../shared/dialects/mcp/protocol.ts'
import { RpcError } from '../../shared/dialects/mcp/rpc.ts'
import { type Reply, json, text } from '../../../core/http/reply.ts'
import type { Request } from '../../../core/http/route.ts'
import { interfaceVersion } from '../shared/interface-version.ts'
import type { OrderedJson } from '../../../core/ports/upstream.ts'
import { callFor, listFor } from './clear-tools.ts'
import type { ClearNeeds } from './offer.ts'
import { admitPlace } from './address.ts'

const instructions =
  'These tools run in the gateway: it sees arguments and results, and keeps neither. ' +
  'Tools that are sealed to an enclave come by the command sealgate mcp.'

/** Ms for which a client may keep the list of tools; a reload may change it. */
const listLifeMs = 60_000

/** Throws what is no error of the protocol. */
const refusal = (error: unknown, headers: IncomingHttpHeaders, id: ClientMessage['id']): Reply => {
  if (!(error instanceof RpcError)) throw error
  const { code, message, data } = error
  const told = { code, message, ...(data !== null && { data }) }
  return json({ jsonrpc: '2.0', ...(id !== null && { id }), error: told }, statusOf(code, headers))
}

/** The answer to one message of an agent. */
export const answerCall = async (
  { input, headers, caller, pace, signal }: Request<OrderedJson, unknown, Caller>,
  given: ClearNeeds,
): Promise<Reply> => {
  admitPlace(headers, given.settings)
  let id: ClientMessage['id'] = null
  try {
    const message = messageOf(input)
    id = message.id
    checkHeaders(message, headers)
    if (id === null) return text('', undefined, 202)
    const answering = protocol({
      version: interfaceVersion,
      instructions,
      lasting: listLifeMs,
      tools: () => listFor(caller, given, signal),
      call: (name, args, told) => callFor(caller, given, name, args, { signal: told.signal, pace }),
    })
    const result = await answering({ ...message, signal, notify: () => undefined })
    return json({ jsonrpc: '2.0', id, result })
  } catch (error) {
    return refusal(error, headers, id)
  }
}
