import { print } from '../../../../core/dialects/json.ts'
import { isJsonObject } from '../../../../core/dialects/json-object.ts'
import * as v from 'valibot'
import { UpstreamFailed } from '../../../../core/errors.ts'
import { capabilitiesKey, earlierRevisions, latestRevision, versionKey } from '../../../shared/dialects/mcp/protocol.ts'
import { exact } from '../../../shared/long-numbers.ts'
import { RpcError } from '../../../shared/dialects/mcp/rpc.ts'
import { interfaceVersion } from '../../shared/interface-version.ts'
import type { ServedTool, ToolResult } from '../served-tools.ts'
import type { Line } from './line.ts'
import { paramHeaders } from './param-headers.ts'

/** Revisions of a server that the gateway speaks. */
const revisions: readonly string[] = [...earlierRevisions, '2025-03-26']
/** Pages of one list, and tools that are read of it. */
const mostPages = 50
export const mostRead = 2_000
/** Parts of one result. */
const mostParts = 1_000

/** A conversation with one server, after the handshake. */
export interface Session {
  /** The tools as the server lists them, and whether there are more. */
  tools(signal: AbortSignal): Promise<{ readonly listed: readonly unknown[]; readonly more: boolean }>
  call(tool: ServedTool, args: object, signal: AbortSignal): Promise<ToolResult>
  isOwn(): boolean
  close(): void
}

const text = v.string()
const part = v.variant('type', [
  v.object({ type: v.literal('text'), text }),
  v.object({ type: v.literal('image'), data: text, mimeType: text }),
  v.object({ type: v.literal('audio'), data: text, mimeType: text }),
  v.object({
    ...{ type: v.literal('resource_link'), uri: text, name: text },
    ...{ title: v.optional(text), description: v.optional(text), mimeType: v.optional(text) },
  }),
  v.object({
    type: v.literal('resource'),
    resource: v.union([
      v.object({ uri: text, mimeType: v.optional(text), text }),
      v.object({ uri: text, mimeType: v.optional(text), blob: text }),
    ]),
  }),
])
const answer = v.object({
  content: v.optional(v.pipe(v.array(part), v.maxLength(mostParts)), []),
  structuredContent: v.optional(v.unknown()),
  isError: v.optional(v.boolean()),
  // A result of another kind asks back, which the gateway does not offer.
  resultType: v.optional(v.literal('complete')),
})

const resultOf = (result: unknown): ToolResult => {
  const read = v.safeParse(answer, result)
  if (!read.success) throw new UpstreamFailed('The tool’s server sends a result of an unknown form')
  const { content, structuredContent, isError } = read.output
  const error = isError && { isError }
  if (isJsonObject(structuredContent)) return { content, structuredContent, ...error }
  // Clients of earlier revisions take objects alone: any other value is a text, unless the server gives one.
  const isTold = structuredContent == null || content.length > 0
  return { content: isTold ? content : [{ type: 'text', text: print(exact(structuredContent)) }], ...error }
}

const listIn = async (line: Line, signal: AbortSignal) => {
  const listed: unknown[] = []
  let cursor: unknown = undefined
  for (let page = 0; page < mostPages && listed.length < mostRead; page++) {
    const result = await line.call('tools/list', typeof cursor === 'string' ? { cursor } : {}, signal)
    const { tools, nextCursor } = result as { readonly tools?: unknown; readonly nextCursor?: unknown }
    if (!Array.isArray(tools)) throw new UpstreamFailed('The tool’s server sends no list')
    listed.push(...tools.slice(0, mostRead + 1 - listed.length))
    cursor = nextCursor
    if (typeof cursor !== 'string') break
  }
  return { listed: listed.slice(0, mostRead), more: listed.length > mostRead || typeof cursor === 'string' }
}

const clientInfo = { name: 'sealgate', version: interfaceVersion }
/** What each call of the latest revision tells in place of a handshake. */
const _meta = { [versionKey]: latestRevision, [capabilitiesKey]: {}, 'io.modelcontextprotocol/clientInfo': clientInfo }

const unknownRevision = () => new UpstreamFailed('The tool’s server speaks an unknown revision of the protocol')

const shakeHands = async (line: Line, signal: AbortSignal): Promise<void> => {
  const wish = { protocolVersion: earlierRevisions[0], capabilities: {}, clientInfo }
  const answer = await line.call('initialize', wish, signal)
  const version = isJsonObject(answer) ? answer['protocolVersion'] : undefined
  const known = revisions.find((revision) => revision === version)
  if (known === undefined) throw unknownRevision()
  line.agreed(known)
  await line.notify('notifications/initialized', {}, signal)
}

/** The line in the revision of the server: with a handshake, or in the latest one where the server refuses a handshake. */
const agreedLine = async (line: Line, signal: AbortSignal): Promise<Line> => {
  try {
    await shakeHands(line, signal)
    return line
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
  }
  line.agreed(latestRevision)
  const latest: Line = { ...line, call: (method, params, ...rest) => line.call(method, { ...params, _meta }, ...rest) }
  const { supportedVersions } = (await latest.call('server/discover', {}, signal)) as {
    readonly supportedVersions?: unknown
  }
  if (!Array.isArray(supportedVersions) || !supportedVersions.includes(latestRevision)) throw unknownRevision()
  return latest
}

/** Throws UpstreamFailed for a server that speaks another revision, and closes the line. */
export const openSession = async (opened: Line, signal: AbortSignal): Promise<Session> => {
  const line = await agreedLine(opened, signal).catch((error: unknown) => {
    opened.close()
    throw error
  })
  return {
    tools: (signal) => listIn(line, signal),
    async call({ own, described }, args, signal) {
      const repeated = paramHeaders(described.inputSchema, args)
      return resultOf(await line.call('tools/call', { name: own, arguments: args }, signal, repeated))
    },
    isOwn: () => line.isOwn(),
    close: () => line.close(),
  }
}
