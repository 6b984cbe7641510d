import * as v from 'valibot'
import { rpcErrorCodes } from '../../shared/dialects/mcp/rpc.ts'
import { NotFound } from '../../../core/errors.ts'
import { json, text } from '../../../core/http/reply.ts'
import { route, type Render } from '../../../core/http/route.ts'
import { decisionNeeds } from '../../shared/decisions/decision-needs.ts'
import { lazy } from '../../../core/plugin.ts'
import { Tool } from '../../../core/ports/tool.ts'
import type { OrderedJson } from '../../../core/ports/upstream.ts'
import { Settings } from '../../../core/settings.ts'
import { ChatFilter } from '../../../core/ports/chat-filter.ts'
import { McpServers } from './servers.ts'
import { mcpSettings } from './settings.ts'
import { decisionSettings } from '../../shared/decisions/settings.ts'

const answering = lazy(() => import('./answer-call.ts'))

/** Bytes of a message: the questions of a decision are the longest. */
const mostMessage = 1024 * 1024

const errorSchema = v.pipe(
  v.object({
    jsonrpc: v.literal('2.0'),
    error: v.object({ code: v.number(), message: v.string(), data: v.optional(v.looseObject({})) }),
  }),
  v.title('RpcError'),
)

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

/** The path of the metadata of RFC 9728, before the prefix. */
const metadataPath = '/.well-known/oauth-protected-resource/mcp'

/** What a 401 adds, so that clients find the metadata. */
const challengeOf = (settings: Settings): string => {
  const { url } = mcpSettings.of(settings)
  return url === undefined ? '' : `, resource_metadata="${new URL(url).origin}${settings.prefix}${metadataPath}"`
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
  places: { name: 'decision', most: (settings: Settings) => decisionSettings.of(settings).places },
  errors: asRpc,
  faults: { default: errorSchema },
  needs: { ...decisionNeeds, tools: Tool, servers: McpServers, filters: ChatFilter },
  handle: async (request, given) => (await answering()).answerCall(request, given),
})

/** Where older revisions look for messages of the server, and end what they call a session: there is neither. */
const absent = (['GET', 'DELETE'] as const).map((method) =>
  route({
    method,
    path: '/mcp',
    summary: 'Is refused by a 405: this server begins no messages and keeps no sessions.',
    access: 'anyone',
    needs: {},
    handle: () => text('', undefined, 405, { allow: 'POST' }),
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
  handle(_, { settings }) {
    const { url } = mcpSettings.of(settings)
    if (url === undefined) throw new NotFound('mcp.url is not set')
    return json({
      resource: url,
      resource_name: 'sealgate',
      bearer_methods_supported: ['header'],
      scopes_supported: ['tools.execute', 'chats.completion'],
    })
  },
})

/** One address for all messages, as the transport called Streamable HTTP has it. */
export const mcpRoutes = [answer, ...absent, metadata] as const
