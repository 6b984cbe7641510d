import type { OrderedJson } from '../../../../core/ports/upstream.ts'
import { earlierRevisions, requestMeta, latestRevision, versionKey } from './protocol.ts'
import { RpcError, rpcErrorCodes } from './rpc.ts'

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** One message of a client that came as a body of its own. */
export interface ClientMessage {
  /** Null for a notification. */
  readonly id: string | number | null
  readonly method: string
  /** Objects of the protocol are records; what stands in `arguments` keeps its order. */
  readonly params: Readonly<Record<string, unknown>>
}

/** Throws RpcError for what is no request and no notification, such as a batch or an answer. */
export const messageOf = (body: OrderedJson): ClientMessage => {
  const fields = body instanceof Map ? (body as ReadonlyMap<string, OrderedJson>) : null
  const [id, method, params] = [fields?.get('id'), fields?.get('method'), fields?.get('params') ?? new Map()]
  const named = id === undefined || typeof id === 'string' || Number.isSafeInteger(id)
  if (fields?.get('jsonrpc') !== '2.0' || typeof method !== 'string' || !(params instanceof Map) || !named)
    throw new RpcError(rpcErrorCodes.request, 'The body is no request of JSON-RPC')
  return { id: (id as string | number | undefined) ?? null, method, params: recordOf(params) }
}

/** The arguments of a tool stay a Map; everything else is read by name alone. */
const recordOf = (map: ReadonlyMap<string, OrderedJson>): Readonly<Record<string, unknown>> =>
  Object.fromEntries([...map].map(([name, member]) => [name, name === '_meta' ? requestMeta(member) : member]))

const textOf = (headers: Headers, name: string): string | null => {
  const value = headers[name]
  return typeof value === 'string' ? value : null
}

/** Header values outside of plain ASCII travel as base64 between these marks. */
const decoded = (value: string): string => {
  const [, base64] = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(value) ?? []
  return base64 === undefined ? value : Buffer.from(base64, 'base64').toString('utf8')
}

/** The parameter that a header repeats. */
const repeated: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
}

const mismatch = (header: string) => new RpcError(rpcErrorCodes.header, `${header} differs from the body`)

/** Throws RpcError where headers say another thing than the body: whatever stands between may have decided by them. */
export const checkHeaders = ({ method, params }: ClientMessage, headers: Headers): void => {
  const version = textOf(headers, 'mcp-protocol-version')
  const meta = params['_meta'] as Readonly<Record<string, unknown>> | undefined
  const told = meta?.[versionKey]
  if (told === undefined) return checkVersion(version)
  if (version !== told) throw mismatch('MCP-Protocol-Version')
  if (textOf(headers, 'mcp-method') !== method) throw mismatch('Mcp-Method')
  const source = Object.hasOwn(repeated, method) ? params[repeated[method]!] : undefined
  const name = textOf(headers, 'mcp-name')
  if (source !== undefined && (name === null || decoded(name) !== source)) throw mismatch('Mcp-Name')
}

/** A message that tells no version is of a revision with a handshake, or wrong. */
const checkVersion = (version: string | null): void => {
  if (version === null || earlierRevisions.includes(version)) return
  if (version === latestRevision) throw new RpcError(rpcErrorCodes.params, `_meta needs ${versionKey}`)
  const supported = [latestRevision, ...earlierRevisions]
  throw new RpcError(rpcErrorCodes.version, 'The version of the protocol is not served', {
    supported,
    requested: version,
  })
}

/** Errors that are none of the method called: every revision gives them a status. */
const ofTransport: readonly number[] = [rpcErrorCodes.request, rpcErrorCodes.header, rpcErrorCodes.version]

/** The status of an error; before 2026-07-28 clients read errors of methods in answers with 200 alone. */
export const statusOf = (code: number, headers: Headers): number => {
  if (ofTransport.includes(code)) return 400
  if (textOf(headers, 'mcp-protocol-version') !== latestRevision) return 200
  return code === rpcErrorCodes.method ? 404 : 400
}
