import { GatewayError, NotFound, UpstreamFailed } from '../../../core/errors.ts'
import type { Answer } from '../../../core/ports/platform.ts'
import { type BatchAsk, type Batches, moreOf } from '../../shared/more-abilities.ts'
import { readObject } from '../../shared/backend.ts'
import type { Given } from './needs.ts'
import type { KeptThing } from './rows.ts'

/** Runs a wait that a silent backend would never end. */
type Watch = <T>(wait: () => Promise<T>) => Promise<T>

/** Pieces of a body, each awaited for so long at most. */
async function* received(body: AsyncIterable<Uint8Array>, watch: Watch): AsyncGenerator<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]()
  try {
    for (;;) {
      const { done, value } = await watch(() => pieces.next())
      if (done === true) return
      yield value
    }
  } finally {
    await pieces.return?.()
  }
}

/** The batches of the backend that has the thing. Throws UpstreamFailed where the configuration has it no more. */
export const batchesOf = ({ upstreams }: Given, { provider, dialect }: KeptThing): Batches => {
  const upstream = upstreams.find(({ name }) => name === provider)
  const batches = upstream && moreOf(upstream).batches
  if (batches?.dialect === dialect) return batches
  throw new UpstreamFailed('The backend of the batch takes no batches any more')
}

/**
 * Sends a request to a backend's batches. A backend that is silent for `timeouts.total` is given up. What the backend does
 * not know any more is not found.
 */
export const sent = async (
  { clock, settings }: Given,
  batches: Batches,
  { stream, ...ask }: BatchAsk,
  signal: AbortSignal,
): Promise<Answer> => {
  const silence = new AbortController()
  const alarm = () =>
    clock.alarm(settings.timeouts.total, () =>
      silence.abort(new UpstreamFailed(undefined, { again: true, cause: new Error('No answer in time') })),
    )
  const watch: Watch = async (wait) => {
    const late = alarm()
    try {
      return await wait()
    } finally {
      late.off()
    }
  }
  let own: GatewayError | null = null
  // The alarm runs while the backend takes a piece, and not while the caller sends one.
  let late = alarm()
  async function* sending(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      late.off()
      for await (const piece of source) {
        late = alarm()
        yield piece
        late.off()
      }
      late = alarm()
    } catch (error) {
      if (error instanceof GatewayError) own = error
      throw error
    }
  }
  try {
    const whole = { ...ask, ...(stream && { stream: sending(stream) }) }
    const answer = await batches.send(whole, AbortSignal.any([signal, silence.signal]))
    return { ...answerOf(answer), body: received(answer.body, watch) }
  } catch (error) {
    if (own !== null) throw own as GatewayError
    throw error instanceof UpstreamFailed && error.answered === 404
      ? new NotFound('No such batch or file', { code: 'not_found' })
      : error
  } finally {
    late.off()
  }
}

const answerOf = (answer: Answer): Omit<Answer, 'body'> => ({
  status: answer.status,
  header: (name) => answer.header(name),
  discard: () => answer.discard(),
})

/** What a vendor makes. The answer is awaited for a caller who has left, too: else nobody would own it and pay for it. */
export const madeObject = (given: Given, batches: Batches, ask: BatchAsk): Promise<Record<string, unknown>> =>
  toldObject(given, batches, ask, new AbortController().signal)

/** Ends what a vendor has made. A fault of the vendor is logged. */
export const undone = (given: Given, batches: Batches, ask: BatchAsk): Promise<unknown> =>
  madeObject(given, batches, ask).catch((cause) => given.log.error('batches.left', { path: ask.path }, cause))

/** The object that a backend answers with. */
export const toldObject = async (...args: Parameters<typeof sent>): Promise<Record<string, unknown>> =>
  readObject(await sent(...args))
