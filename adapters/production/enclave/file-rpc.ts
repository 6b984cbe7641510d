import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { Unavailable } from '../../../core/errors.ts'
import type { Kept, EnclaveFiles, EnclaveFile, IndexedRecord } from '../../../core/ports/enclave.ts'

/** A question of the enclave, as a line of its answer: `{"ask": {…}}`. */
export interface EnclaveQuestion {
  readonly id: string
  readonly of: keyof EnclaveFiles
  readonly argument: unknown
}

/** Sends a request to the enclave beside the call in progress. */
export type SendAside = (
  method: 'GET' | 'POST',
  path: string,
  body: AsyncIterable<Uint8Array> | null,
  signal: AbortSignal,
) => Promise<IncomingMessage>

const line = (value: unknown): Uint8Array => Buffer.from(`${JSON.stringify(value)}\n`)

/** The first line is the value; bytes of a file follow as they are. */
async function* told(value: unknown, bytes: AsyncIterable<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  yield line({ value })
  if (bytes !== null) yield* bytes
}

/** A line without a reason: a store's fault stays with the gateway. */
async function* failed(): AsyncGenerator<Uint8Array> {
  yield line({ failed: true })
}

/** The gateway's end: fetches the enclave's bytes, answers its question, and reports the outcome. */
export const answerQuestion = async (
  { id, of, argument }: EnclaveQuestion,
  enclaveFiles: EnclaveFiles,
  aside: SendAside,
  signal: AbortSignal,
): Promise<void> => {
  const given = async (): Promise<AsyncIterable<Uint8Array>> => {
    const answer = await aside('GET', `given/${id}`, null, signal)
    if (answer.statusCode === 200) return answer
    // The call was aborted: an empty body must not be stored.
    answer.destroy()
    throw new Unavailable()
  }
  const tell = async (value: unknown, bytes: AsyncIterable<Uint8Array> | null = null) => {
    const heard = await aside('POST', `told/${id}`, told(value, bytes), signal)
    heard.resume()
  }
  try {
    switch (of) {
      case 'file':
        return await tell(await enclaveFiles.file(String(argument)))
      case 'content':
      case 'index': {
        const bytes = await enclaveFiles[of](String(argument), signal)
        return await tell(bytes !== null, bytes)
      }
      case 'indexes':
        return await tell(await enclaveFiles.indexes(argument as readonly string[] | null))
      case 'keep':
        return await tell(
          await enclaveFiles.keep(argument as Parameters<EnclaveFiles['keep']>[0], await given(), signal),
        )
      case 'keepIndex':
        return await tell((await enclaveFiles.keepIndex(String(argument), await given(), signal)) ?? null)
    }
  } catch {
    // The enclave learns only that the question failed; the stores report their own faults.
    const heard = await aside('POST', `told/${id}`, failed(), signal)
    heard.resume()
  }
}

/** A question without an answer yet; `bytes` are what the question hands over, null for a plain one. */
interface Waiting {
  readonly bytes: AsyncIterable<Uint8Array> | null
  hear(value: unknown, rest: AsyncIterable<Uint8Array>): void
  fail(): void
}

/** Resolves with the value, and with the bytes behind it, which the asker must read or leave. */
type AskBack = <T>(
  of: keyof EnclaveFiles,
  argument: unknown,
  signal: AbortSignal,
  bytes?: AsyncIterable<Uint8Array>,
) => Promise<{ value: T; rest: AsyncIterable<Uint8Array> }>

/** The stores of one call. Its signal ends the questions without a signal of their own. */
const shelfOver = (ask: AskBack, signal: AbortSignal): EnclaveFiles => {
  const stream = async (of: 'content' | 'index', id: string, ownSignal: AbortSignal) => {
    const { value, rest } = await ask<boolean>(of, id, ownSignal)
    return value ? rest : null
  }
  return {
    file: async (id) => (await ask<EnclaveFile | null>('file', id, signal)).value,
    content: (id, ownSignal) => stream('content', id, ownSignal),
    index: (id, ownSignal) => stream('index', id, ownSignal),
    indexes: async (ids) => (await ask<readonly IndexedRecord[]>('indexes', ids, signal)).value,
    keep: async (labels, bytes, ownSignal) => (await ask<Kept>('keep', labels, ownSignal, bytes)).value,
    keepIndex: async (id, bytes, ownSignal) => void (await ask('keepIndex', id, ownSignal, bytes)),
  }
}

/** The enclave's end: open questions by their id. */
export const openQuestions = (newId: () => string) => {
  const open = new Map<string, Waiting>()

  const ask = <T>(
    say: (question: EnclaveQuestion) => void,
    of: keyof EnclaveFiles,
    argument: unknown,
    signal: AbortSignal,
    bytes: AsyncIterable<Uint8Array> | null = null,
  ): Promise<{ value: T; rest: AsyncIterable<Uint8Array> }> =>
    new Promise((resolve, reject) => {
      const id = newId()
      const close = () => {
        open.delete(id)
        signal.removeEventListener('abort', stop)
      }
      const stop = () => {
        close()
        reject(signal.reason)
      }
      if (signal.aborted) return stop()
      signal.addEventListener('abort', stop, { once: true })
      open.set(id, {
        bytes,
        hear(value, rest) {
          close()
          resolve({ value: value as T, rest })
        },
        fail() {
          close()
          reject(new Unavailable())
        },
      })
      say({ id, of, argument })
    })

  return {
    /** The stores of one call. */
    enclaveFiles: (say: (question: EnclaveQuestion) => void, signal: AbortSignal): EnclaveFiles =>
      shelfOver((of, argument, ownSignal, bytes) => ask(say, of, argument, ownSignal, bytes ?? null), signal),

    /** Serves a request that the gateway sends beside a call. False for any other request. */
    async serve(path: string, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
      const [, verb, id = ''] = /^(given|told)\/([\w-]+)$/.exec(path) ?? []
      if (verb === undefined) return false
      const waiting = open.get(id)
      if (waiting !== undefined && verb === 'told') await hear(waiting, request, response)
      else if (waiting?.bytes) await pipeline(waiting.bytes, response)
      else {
        request.resume()
        response.writeHead(404).end()
      }
      return true
    },
  }
}

/** One JSON line, then optional bytes, streamed to the asker. */
const hear = async (waiting: Waiting, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const parts = request[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let head = Buffer.alloc(0)
  let end: number
  while ((end = head.indexOf(0x0a)) < 0) {
    const step = await parts.next()
    if (step.done) return waiting.fail()
    head = Buffer.concat([head, step.value])
  }
  const reply = JSON.parse(head.toString('utf8', 0, end)) as { value?: unknown; failed?: true }
  async function* rest(): AsyncGenerator<Uint8Array> {
    try {
      if (end + 1 < head.length) yield head.subarray(end + 1)
      for (;;) {
        const step = await parts.next()
        if (step.done) break
        yield step.value
      }
      if (!request.complete) throw new Unavailable()
      response.end()
    } finally {
      if (!request.complete) request.destroy()
    }
  }
  if (reply.failed) waiting.fail()
  else waiting.hear(reply.value, rest())
  // An answer without bytes has no reader.
  if (reply.failed || reply.value !== true) response.end()
}
