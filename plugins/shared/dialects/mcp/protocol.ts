import { isJsonObject } from '../../../../core/dialects/json-object.ts'
import { type AnswerCall, type RpcCall, RpcError, rpcErrorCodes } from './rpc.ts'

/** The tools and resources of an MCP server. The order of each list is the same in every call. */
export interface OfferedTools {
  readonly version: string
  readonly instructions: string
  tools(signal: AbortSignal): Promise<readonly object[]>
  /** Throws `RpcError` when the tool is not offered. */
  call(name: string, args: unknown, context: CallContext): Promise<object>
  /** Absent for a server without resources. */
  readonly resources?: Resources
  /** In ms: the time for which a client may keep the list of tools. */
  readonly lasting: number
}

/** Texts that an MCP client can read without a call of a tool. */
export interface Resources {
  list(): readonly object[]
  /** Null when no resource has this URI. */
  read(uri: string): object | null
}

/** The signal that stops a call, and the receiver of its progress. */
export interface CallContext {
  readonly signal: AbortSignal
  progress(done: number, total: number): void
}

/** The revision without a handshake. Calls name it in `_meta`. */
export const latestRevision = '2026-07-28'
/** Revisions with a handshake, the newest first. A client that asks for another one gets the first of these. */
export const earlierRevisions: readonly string[] = ['2025-11-25', '2025-06-18']
/** The member of `_meta` in which a call names its revision. */
export const versionKey = 'io.modelcontextprotocol/protocolVersion'
/** The member of `_meta` in which a client tells what it can do. */
export const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities'

/** Cache times of results, in ms. */
const keeping = (tools: number): Readonly<Record<string, number>> => ({
  'server/discover': tools,
  'tools/list': tools,
  'resources/list': 0,
  'resources/templates/list': 0,
  'resources/read': 3_600_000,
})

/** What a body says beside its parameters; what is no object says nothing. */
export const requestMeta = (meta: unknown): unknown =>
  meta instanceof Map ? Object.fromEntries(meta as ReadonlyMap<string, unknown>) : meta

const metaOf = ({ params }: RpcCall): Readonly<Record<string, unknown>> =>
  isJsonObject(params['_meta']) ? params['_meta'] : {}

/** True when the call names the revision without a handshake. Throws when the call names an unknown revision. */
const isModern = (call: RpcCall): boolean => {
  const meta = metaOf(call)
  if (!(versionKey in meta)) return false
  const requested = meta[versionKey]
  if (typeof requested !== 'string' || !isJsonObject(meta[capabilitiesKey]))
    throw new RpcError(rpcErrorCodes.params, `_meta needs ${versionKey} and ${capabilitiesKey}`)
  if (requested !== latestRevision)
    throw new RpcError(rpcErrorCodes.version, 'The version of the protocol is not served', {
      supported: [latestRevision],
      requested,
    })
  return true
}

/** Reports progress when the client asked for it. The percentage is whole and never decreases. */
const telling = (call: RpcCall): CallContext['progress'] => {
  const { progressToken: token } = metaOf(call)
  if (typeof token !== 'string' && typeof token !== 'number') return () => undefined
  let last = -1
  return (progress, total) => {
    const percent = total === 0 ? 100 : Math.floor((100 * progress) / total)
    if (percent <= last) return
    last = percent
    call.notify('notifications/progress', { progressToken: token, progress, total })
  }
}

const textOf = ({ params }: RpcCall, name: string): string => {
  const text = params[name]
  if (typeof text !== 'string') throw new RpcError(rpcErrorCodes.params, `${name} is needed: a text`)
  return text
}

const ofResources = ({ list, read }: Resources): Readonly<Record<string, AnswerCall>> => ({
  'resources/list': async () => ({ resources: list() }),
  'resources/templates/list': async () => ({ resourceTemplates: [] }),
  async 'resources/read'(call) {
    const uri = textOf(call, 'uri')
    const found = read(uri)
    if (found === null) throw new RpcError(rpcErrorCodes.params, 'There is no such resource', { uri })
    return { contents: [found] }
  },
})

/** Serves both revisions of the protocol. Each call names its revision, so the server keeps no state. */
export const protocol = (shown: OfferedTools): AnswerCall => {
  const serverInfo = { name: 'sealgate', title: 'Sealgate', version: shown.version }
  const capabilities = { tools: {}, ...(shown.resources && { resources: {} }) }
  const lasting = keeping(shown.lasting)

  const common: Readonly<Record<string, AnswerCall>> = {
    'tools/list': async ({ signal }) => ({ tools: await shown.tools(signal) }),
    'tools/call': (call) =>
      shown.call(textOf(call, 'name'), call.params['arguments'] ?? {}, {
        signal: call.signal,
        progress: telling(call),
      }),
    ...(shown.resources && ofResources(shown.resources)),
  }
  const withHandshake: Readonly<Record<string, AnswerCall>> = {
    ...common,
    async initialize({ params }) {
      const protocolVersion =
        earlierRevisions.find((revision) => revision === params['protocolVersion']) ?? earlierRevisions[0]
      return { protocolVersion, capabilities, serverInfo, instructions: shown.instructions }
    },
    ping: async () => ({}),
  }
  const without: Readonly<Record<string, AnswerCall>> = {
    ...common,
    'server/discover': async () => ({
      supportedVersions: [latestRevision],
      capabilities,
      instructions: shown.instructions,
    }),
  }
  const ofModern = (method: string, result: object): object => {
    const ttlMs = lasting[method]
    const cache = ttlMs === undefined ? {} : { ttlMs, cacheScope: 'private' }
    return { ...result, resultType: 'complete', ...cache, _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo } }
  }

  return async (call) => {
    const isNew = isModern(call)
    const methods = isNew ? without : withHandshake
    const answering = Object.hasOwn(methods, call.method) ? methods[call.method] : undefined
    if (answering === undefined) throw new RpcError(rpcErrorCodes.method, 'There is no such method')
    const result = await answering(call)
    return isNew ? ofModern(call.method, result) : result
  }
}
