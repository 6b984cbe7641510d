import { type Answering, type Call, RpcError, faults } from './rpc.ts'

/** What a server shows. Lists keep their order from call to call. */
export interface Shown {
  readonly version: string
  readonly instructions: string
  tools(signal: AbortSignal): Promise<readonly object[]>
  /** Throws `RpcError` for a tool that is not offered. */
  call(name: string, args: unknown, told: Told): Promise<object>
  /** Absent where there are none. */
  readonly resources?: Resources
  /** Ms for which a client may keep the list of tools. */
  readonly lasting: number
}

export interface Resources {
  list(): readonly object[]
  /** Null for one that is not there. */
  read(uri: string): object | null
}

/** How a call stops, and whom it tells how far it is. */
export interface Told {
  readonly signal: AbortSignal
  progress(done: number, total: number): void
}

export const modern = '2026-07-28'
export const earlier: readonly string[] = ['2025-11-25', '2025-06-18']
export const versionKey = 'io.modelcontextprotocol/protocolVersion'
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities'

/** Results that a client may keep, and how long in ms. */
const keeping = (tools: number): Readonly<Record<string, number>> => ({
  'server/discover': tools,
  'tools/list': tools,
  'resources/list': 0,
  'resources/templates/list': 0,
  'resources/read': 3_600_000,
})

const isObject = (it: unknown): it is Readonly<Record<string, unknown>> =>
  typeof it === 'object' && it !== null && !Array.isArray(it)

/** What a body says beside its parameters; what is no object says nothing. */
export const metaKeyed = (meta: unknown): unknown =>
  meta instanceof Map ? Object.fromEntries(meta as ReadonlyMap<string, unknown>) : meta

const metaOf = ({ params }: Call): Readonly<Record<string, unknown>> =>
  isObject(params['_meta']) ? params['_meta'] : {}

/** Whether the call is of the revision that has no handshake. Throws for one that says so wrongly. */
const isModern = (call: Call): boolean => {
  const meta = metaOf(call)
  if (!(versionKey in meta)) return false
  const requested = meta[versionKey]
  if (typeof requested !== 'string' || !isObject(meta[capabilitiesKey]))
    throw new RpcError(faults.params, `_meta needs ${versionKey} and ${capabilitiesKey}`)
  if (requested !== modern)
    throw new RpcError(faults.version, 'The version of the protocol is not served', { supported: [modern], requested })
  return true
}

/** Tells the client how far a call is, where it asked for that: it never goes back, and takes whole percents. */
const telling = (call: Call): Told['progress'] => {
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

const textOf = ({ params }: Call, name: string): string => {
  const text = params[name]
  if (typeof text !== 'string') throw new RpcError(faults.params, `${name} is needed: a text`)
  return text
}

const ofResources = ({ list, read }: Resources): Readonly<Record<string, Answering>> => ({
  'resources/list': async () => ({ resources: list() }),
  'resources/templates/list': async () => ({ resourceTemplates: [] }),
  async 'resources/read'(call) {
    const uri = textOf(call, 'uri')
    const found = read(uri)
    if (found === null) throw new RpcError(faults.params, 'There is no such resource', { uri })
    return { contents: [found] }
  },
})

/** Both revisions of the protocol: that of each call is told by the call, and nothing else is remembered. */
export const protocol = (shown: Shown): Answering => {
  const serverInfo = { name: 'sealgate', title: 'Sealgate', version: shown.version }
  const capabilities = { tools: {}, ...(shown.resources && { resources: {} }) }
  const lasting = keeping(shown.lasting)

  const common: Readonly<Record<string, Answering>> = {
    'tools/list': async ({ signal }) => ({ tools: await shown.tools(signal) }),
    'tools/call': (call) =>
      shown.call(textOf(call, 'name'), call.params['arguments'] ?? {}, {
        signal: call.signal,
        progress: telling(call),
      }),
    ...(shown.resources && ofResources(shown.resources)),
  }
  const withHandshake: Readonly<Record<string, Answering>> = {
    ...common,
    async initialize({ params }) {
      const protocolVersion = earlier.find((it) => it === params['protocolVersion']) ?? earlier[0]
      return { protocolVersion, capabilities, serverInfo, instructions: shown.instructions }
    },
    ping: async () => ({}),
  }
  const without: Readonly<Record<string, Answering>> = {
    ...common,
    'server/discover': async () => ({ supportedVersions: [modern], capabilities, instructions: shown.instructions }),
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
    if (answering === undefined) throw new RpcError(faults.method, 'There is no such method')
    const result = await answering(call)
    return isNew ? ofModern(call.method, result) : result
  }
}
