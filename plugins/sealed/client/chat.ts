import { sseEvents } from '../../shared/sse.ts'
import type { ChatBody, Chunk, Completion } from '../../../core/ports/upstream.ts'
import { textOf, fromHex } from '../wire/bytes.ts'
import { flags, frameOpener } from '../wire/frames.ts'
import { framesDigest } from '../wire/receipt.ts'
import { streamKey } from '../wire/schedule.ts'
import { bytesOf } from './answer-bytes.ts'
import { SealgateError } from './error.ts'
import { checkReceipt } from './receipts.ts'
import { type Options, type SendSealed, type SentRequest, inferenceNames, wholeAnswer } from './send-sealed.ts'
import { sealedFailure } from './seal-request.ts'

/** The parameters of the route in the clear. */
export type ChatParams = ChatBody & { readonly model: string; readonly stream?: boolean | null }

const route = 'rvenc/chat/completions'
/** In bytes: the enclave sends no longer frame. */
const mostFrame = 1024 * 1024

/** The common chat client's own methods. Each throws SealgateError, or the signal's reason after an abort. */
export interface Completions {
  create(params: ChatParams & { readonly stream: true }, options?: Options): Promise<AsyncIterable<Chunk>>
  create(params: ChatParams & { readonly stream?: false | null }, options?: Options): Promise<Completion>
  create(params: ChatParams, options?: Options): Promise<Completion | AsyncIterable<Chunk>>
}

/** Takes the parameters and gives the answers of the common chat client. */
export const completions = (send: SendSealed): Completions => ({
  create: (async (params: ChatParams, options: Options = {}) => {
    const sent = await send(route, params, options, inferenceNames)
    return params.stream === true ? chunksOf(sent, options) : ((await wholeAnswer(sent, options)) as Completion)
  }) as Completions['create'],
})

/** Chunks in their order. The stream ends well only after the final frame, however the connection closes. */
async function* chunksOf({ request, answer }: SentRequest, { signal, receipt: tell }: Options): AsyncGenerator<Chunk> {
  const digest = framesDigest()
  const open = frameOpener(streamKey(request.secret, request.nonce))
  let [begun, isWhole] = [false, false]
  for await (const { event, data } of sseEvents(bytesOf(answer, signal ?? null, () => isWhole))) {
    if (event === 'heartbeat' || event === 'done') continue
    if (event !== 'data' && event !== 'error') continue
    const frame = fromHex(data, mostFrame)
    // The client does not trust an error in the clear: any attacker between client and enclave can send one.
    if (event === 'error' && frame === null) throw new SealgateError(begun ? 'truncated' : 'unavailable')
    const opened = frame === null ? null : open(frame)
    if (opened === null) throw new SealgateError('damaged')
    begun = true
    const sentence = textOf(opened.plain).trimEnd()
    if (opened.flag === flags.error) throw failed(sentence)
    isWhole = opened.flag === flags.final
    if (tell !== undefined && isWhole) {
      const { $receipt: receipt } = JSON.parse(sentence || '{}') as { readonly $receipt?: unknown }
      return tell(checkReceipt(receipt, request, digest.digest()))
    }
    digest.add(frame!)
    if (sentence !== '') yield JSON.parse(sentence) as Chunk
    if (isWhole) return
  }
  throw new SealgateError('truncated')
}

/** The enclave's own failure, which came inside the last frame. */
const failed = (code: string): SealgateError => {
  const { error } = JSON.parse(code) as { error?: unknown }
  return sealedFailure(error)
}
