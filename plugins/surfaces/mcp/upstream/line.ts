import { isJsonObject } from '../../../../core/dialects/json-object.ts'
import { UpstreamFailed } from '../../../../core/errors.ts'
import { noBounds } from '../../../../core/dialects/json-scan.ts'
import { readJson } from '../../../../core/dialects/read-json.ts'
import { keepDigits } from '../../../shared/long-numbers.ts'
import { RpcError, rpcErrorCodes } from '../../../shared/dialects/mcp/rpc.ts'
import { cutText } from '../../../shared/cut-text.ts'

/** Bytes of one message of a server. */
export const mostMessage = 4 * 1024 * 1024
/** Characters of a server's own sentence about a failed call. */
const mostSentence = 1_000

/** Headers that repeat arguments, for the latest revision by HTTP. */
export type RepeatedHeaders = Readonly<Record<string, string>>

/** The way to one server. */
export interface Line {
  /** The result of a call. Throws RpcError where the server refuses the call, and UpstreamFailed where the server fails. */
  call(method: string, params: object, signal: AbortSignal, repeated?: RepeatedHeaders): Promise<unknown>
  notify(method: string, params: object, signal: AbortSignal): Promise<void>
  /** The revision on which both sides agree. */
  agreed(version: string): void
  /** Whether the server keeps something for this line alone. */
  isOwn(): boolean
  close(): void
}

/** The session is over on the server's side; a new one may be opened. */
export class SessionOver extends UpstreamFailed {
  constructor() {
    super('The session of the tool’s server is over', { again: true })
  }
}

/** A message of a server, after its JSON is read. */
export interface ServerMessage {
  readonly id?: unknown
  readonly method?: unknown
  readonly result?: unknown
  readonly error?: { readonly code?: unknown; readonly message?: unknown } | null
}

/** Throws UpstreamFailed for anything but one JSON object. */
export const messageIn = async (bytes: Buffer): Promise<ServerMessage> => {
  try {
    const value = await readJson(bytes, 'plain', noBounds)
    if (isJsonObject(value)) {
      keepDigits(value, bytes.toString('utf8'))
      return value
    }
  } catch (cause) {
    throw new UpstreamFailed('The tool’s server sends no JSON', { cause })
  }
  throw new UpstreamFailed('The tool’s server sends no message of the protocol')
}

/** The result in an answer. The sentence of a server is for the caller alone. */
export const resultIn = ({ result, error }: ServerMessage): unknown => {
  if (!isJsonObject(error)) {
    if (isJsonObject(result)) return result
    throw new UpstreamFailed('The tool’s server sends no result')
  }
  const { code, message } = error
  const isCode = typeof code === 'number' && Number.isSafeInteger(code)
  const sentence = typeof message === 'string' ? cutText(message, mostSentence) : 'The tool’s server refuses the call'
  throw new RpcError(isCode ? code : rpcErrorCodes.inside, sentence)
}

/** The answer to a request of a server: the gateway offers a server nothing but its calls. */
export const answerTo = ({ id, method }: ServerMessage): object | null => {
  if (typeof method !== 'string' || (typeof id !== 'string' && typeof id !== 'number')) return null
  if (method === 'ping') return { jsonrpc: '2.0', id, result: {} }
  return { jsonrpc: '2.0', id, error: { code: rpcErrorCodes.method, message: 'There is no such method' } }
}
