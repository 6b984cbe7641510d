import type { IncomingHttpHeaders } from 'node:http'
import * as v from 'valibot'
import { type ClientMessage, checkHeaders, messageOf, statusOf } from '../../../core/dialects/mcp/exchange.ts'
import { protocol } from '../../../core/dialects/mcp/protocol.ts'
import { RpcError, rpcErrorCodes } from '../../../core/dialects/mcp/rpc.ts'
import { NotFound } from '../../../core/errors.ts'
import { interfaceVersion } from '../../../core/interface-version.ts'
import { json, text, type Reply } from '../../../core/http/reply.ts'
import { route, type Render } from '../../../core/http/route.ts'
import type { OrderedJson } from '../../../core/ports/upstream.ts'
import { Settings } from '../../../core/settings.ts'
import { callFor, clearNeeds, listFor } from './clear-tools.ts'
import { admitPlace, challengeOf, metadataPath } from './address.ts'

const instructions =
  'These tools run in the gateway: it sees arguments and results, and keeps neither. ' +
  'Tools that are sealed to an enclave come by the command sealgate mcp.'

/** Bytes of a message: the questions of a decision are the longest. */
const mostMessage = 1024 * 1024
/** Ms for which a client may keep the list of tools; a reload may change it. */
const listLifeMs = 60_000

const errorSchema = v.object({
  jsonrpc: v.literal('2.0'),
  error: v.object({ code: v.number(), message: v.string(), data: v.optional(v.looseObject({})) }),
})

/** What goes wrong before a message is understood has no id. */
const asRpc: Render = ({ id }, { status, message, code, validator }) => ({
  status,
  body: {
    jsonrpc: '2.0',
    error: {
      code:
        message === 'Malformed JSON'
          ? rpcErrorCodes.parse
          : status === 400
            ? rpcErrorCodes.request
            : rpcErrorCodes.refused,
      message,
      data: { status, request_id: id, ...(code !== null && { code }), ...(validator !== null && { validator }) },
    },
  },
})

const messageSchema = v.looseObject({
  jsonrpc: v.literal('2.0'),
  id: v.optional(v.union([v.string(), v.number()])),
  method: v.string(),
  params: v.optional(v.looseObject({})),
}) as unknown as v.GenericSchema<unknown, OrderedJson>

/** Throws what is no error of the protocol. */
const refusal = (error: unknown, headers: IncomingHttpHeaders, id: ClientMessage['id']): Reply => {
  if (!(error instanceof RpcError)) throw error
  const { code, message, data } = error
  const told = { code, message, ...(data !== null && { data }) }
  return json({ jsonrpc: '2.0', ...(id !== null && { id }), error: told }, statusOf(code, headers))
}

const answer = route({
  method: 'POST',
  path: '/mcp',
  summary: 'Tools in the clear for agents: the Model Context Protocol of 2026-07-28, 2025-11-25 and 2025-06-18.',
  access: 'any-key',
  challenge: challengeOf,
  body: { read: 'ordered', schema: messageSchema, bytes: mostMessage, check: (body) => body },
  answer: v.looseObject({ jsonrpc: v.literal('2.0') }),
  // A decision by a tool is a decision: both have the same places.
  places: { name: 'decision', most: ({ decision }: Settings) => decision.places },
  errors: asRpc,
  faults: { default: errorSchema },
  needs: { ...clearNeeds, settings: Settings },
  async handle({ input, headers, caller, signal }, given) {
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
        tools: async () => listFor(caller, given),
        call: (name, args, told) => callFor(caller, given, name, args, told.signal),
      })
      const result = await answering({ ...message, signal, notify: () => undefined })
      return json({ jsonrpc: '2.0', id, result })
    } catch (error) {
      return refusal(error, headers, id)
    }
  },
})

/** Where older revisions look for messages of the server, and end what they call a session: there is neither. */
const absent = (['GET', 'DELETE'] as const).map((method) =>
  route({
    method,
    path: '/mcp',
    summary: 'Is refused by a 405: this server begins no messages and keeps no sessions.',
    access: 'anyone',
    needs: {},
    handle: () => json(null, 405, { allow: 'POST' }),
  }),
)

const metadata = route({
  method: 'GET',
  path: metadataPath,
  summary: 'What clients have to know of /mcp before they have a key (RFC 9728).',
  access: 'anyone',
  answer: v.object({
    resource: v.string(),
    resource_name: v.string(),
    bearer_methods_supported: v.array(v.string()),
    scopes_supported: v.array(v.string()),
  }),
  needs: { settings: Settings },
  handle(_, { settings: { mcp } }) {
    if (mcp.url === undefined) throw new NotFound('mcp.url is not set')
    return json({
      resource: mcp.url,
      resource_name: 'sealgate',
      bearer_methods_supported: ['header'],
      scopes_supported: ['tools.execute', 'chats.completion'],
    })
  },
})

export const mcpRoutes = [answer, ...absent, metadata] as const
