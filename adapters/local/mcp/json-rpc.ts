import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { isJsonObject } from '../../../core/dialects/json-object.ts'
import { type AnswerCall, type RpcCall, RpcError, rpcErrorCodes } from '../../../plugins/shared/dialects/mcp/rpc.ts'

/** In bytes. A longer line is skipped and refused. */
const mostLine = 16 * 1024 * 1024
/** Calls under way at once. */
const mostCalls = 32

type Id = string | number

interface Message {
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: unknown
}

const isId = (value: unknown): value is Id => typeof value === 'string' || Number.isSafeInteger(value)

/** The lines of a stream; null for a line that is too long. An unfinished last line is dropped. */
export async function* linesOf(input: AsyncIterable<Buffer>, most = mostLine): AsyncGenerator<Buffer | null> {
  let parts: Buffer[] = []
  let size = 0
  for await (const part of input) {
    let from = 0
    for (let at = part.indexOf(10); at >= 0; at = part.indexOf(10, from)) {
      size += at - from
      yield size > most ? null : Buffer.concat([...parts, part.subarray(from, at)])
      parts = []
      size = 0
      from = at + 1
    }
    size += part.length - from
    if (size > most) parts = []
    else parts.push(part.subarray(from))
  }
}

/** Undefined for a line that is no JSON or no UTF-8. */
const parsed = (line: Buffer): unknown => {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(line))
  } catch {
    return undefined
  }
}

/** Unknown errors give no words of their own to the agent: they may quote plaintext. */
const errorOf = (error: unknown): object => {
  if (!(error instanceof RpcError)) return { code: rpcErrorCodes.inside, message: 'The call failed' }
  const { code, message, data } = error
  return { code, message, ...(data && { data }) }
}

/** The calls in progress. */
const underWay = (answering: AnswerCall, say: (message: object) => void) => {
  const running = new Map<Id, AbortController>()

  const answered = async (id: Id, method: string, params: RpcCall['params'], stop: AbortController): Promise<void> => {
    const notify = (method: string, params: object) => stop.signal.aborted || say({ method, params })
    const call: RpcCall = { method, params, signal: stop.signal, notify }
    const told = await answering(call).then(
      (result) => ({ id, result }),
      (error: unknown) => ({ id, error: errorOf(error) }),
    )
    running.delete(id)
    if (!stop.signal.aborted) say(told)
  }

  return {
    begin(id: Id, method: string, params: RpcCall['params']): void {
      const refuse = (code: number, message: string) => say({ id, error: { code, message } })
      if (running.has(id)) return refuse(rpcErrorCodes.request, 'A call with this id is under way')
      if (running.size >= mostCalls) return refuse(rpcErrorCodes.refused, 'Too many calls at once')
      const stop = new AbortController()
      running.set(id, stop)
      void answered(id, method, params, stop)
    },
    cancel: (id: unknown): void =>
      void (isId(id) && running.get(id)?.abort(new Error('The client cancelled the call'))),
    end(): void {
      for (const stop of running.values()) stop.abort(new Error('The client is gone'))
    },
  }
}

/**
 * Answers JSON-RPC, one message per line, until the input ends or the output breaks. Every open call is aborted then.
 */
export const serveLines = async (input: Readable, output: Writable, answering: AnswerCall): Promise<void> => {
  const gone = new AbortController()
  output.on('error', () => gone.abort())
  const say = (message: object) =>
    void (output.writable && output.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`))
  const calls = underWay(answering, say)

  const take = (message: unknown): void => {
    if (!isJsonObject(message))
      return say({ id: null, error: { code: rpcErrorCodes.request, message: 'This is no message' } })
    const { id, method, params = {} }: Message = message
    // This message is an answer, and the server sends no requests: it is ignored.
    if (method === undefined && id !== undefined) return
    if (typeof method !== 'string' || !isJsonObject(params) || (id !== undefined && !isId(id)))
      return say({ id: isId(id) ? id : null, error: { code: rpcErrorCodes.request, message: 'This is no call' } })
    if (id !== undefined) return calls.begin(id, method, params)
    if (method === 'notifications/cancelled') calls.cancel(params['requestId'])
  }

  const read = async () => {
    for await (const line of linesOf(input)) {
      const message = line === null ? undefined : parsed(line)
      if (message !== undefined) take(message)
      else if (line === null || line.toString().trim() !== '')
        say({ id: null, error: { code: rpcErrorCodes.parse, message: 'The line is no JSON, or too long' } })
      // Backpressure: a client that does not read the answers gets no further line read.
      if (output.writableNeedDrain) await once(output, 'drain', { signal: gone.signal })
    }
  }
  const left = new Promise<void>((resolve) => gone.signal.addEventListener('abort', () => resolve()))
  // A broken pipe counts as the end of the input.
  await Promise.race([read().catch(() => undefined), left])
  calls.end()
}
