import { sseEvents } from '../../dialects/sse.ts'
import type { ChatBody, Chunk, Completion } from '../../ports/upstream.ts'
import { textOf } from '../wire/bytes.ts'
import { flags, frameOpener } from '../wire/frames.ts'
import { fromHex } from '../wire/hex.ts'
import { streamKey } from '../wire/schedule.ts'
import { SealgateError } from './error.ts'
import type { Send, Sent } from './send-sealed.ts'
import { openAnswer } from './seal-request.ts'

export type ChatParams = ChatBody & { readonly model: string; readonly stream?: boolean | null }

const route = 'rvenc/chat/completions'
const names = { params: 'encryptedInference', kid: 'enclaveKid' }
const mostFrame = 1024 * 1024

export interface Completions {
  create(params: ChatParams & { readonly stream: true }, options?: Options): Promise<AsyncIterable<Chunk>>
  create(params: ChatParams & { readonly stream?: false | null }, options?: Options): Promise<Completion>
  create(params: ChatParams, options?: Options): Promise<Completion | AsyncIterable<Chunk>>
}

export interface Options {
  readonly signal?: AbortSignal
}

/** The same parameters and answers as the common chat client. */
export const completions = (send: Send): Completions => ({
  create: (async (params: ChatParams, { signal }: Options = {}) => {
    const sent = await send(route, params, signal ?? null, names)
    if (params.stream === true) return chunksOf(sent, signal ?? null)
    return openAnswer(sent.request, await sent.answer.json().catch(cutBy(signal ?? null))) as Completion
  }) as Completions['create'],
})

/** Who stops an answer is told so by their own reason; any other end is a cut. */
export const cutBy =
  (signal: AbortSignal | null) =>
  (cause: unknown): never => {
    throw signal?.aborted ? signal.reason : new SealgateError('truncated', { cause })
  }

/** Chunks in their order; ends normally only after the final frame, whatever the connection says. */
export async function* chunksOf({ request, answer }: Sent, signal: AbortSignal | null = null): AsyncGenerator<Chunk> {
  const open = frameOpener(streamKey(request.secret, request.nonce))
  let begun = false
  for await (const { event, data } of sseEvents(bytesOf(answer, signal))) {
    if (event === 'heartbeat' || event === 'done') continue
    if (event === 'error') throw new SealgateError(begun ? 'truncated' : 'unavailable')
    if (event !== 'data') continue
    const frame = fromHex(data, mostFrame)
    const opened = frame === null ? null : open(frame)
    if (opened === null) throw new SealgateError('damaged')
    begun = true
    const said = textOf(opened.plain).trimEnd()
    if (opened.flag === flags.error) throw failed(said)
    if (said !== '') yield JSON.parse(said) as Chunk
    if (opened.flag === flags.final) return
  }
  throw new SealgateError('truncated')
}

const failed = (said: string): SealgateError => {
  const { error } = JSON.parse(said) as { error?: { code?: string } }
  return new SealgateError('failed', { code: error?.code ?? null })
}

async function* bytesOf(answer: Response, signal: AbortSignal | null): AsyncGenerator<Uint8Array> {
  const reader = answer.body!.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(cutBy(signal))
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
