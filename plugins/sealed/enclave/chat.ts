import { ChatRequest, split } from '../../../core/dialects/chat-completions.ts'
import { asksUsage } from '../../shared/repeated-chunks.ts'
import type { Pace } from '../../../core/dialects/loop-time.ts'
import type { Passage } from '../../../core/ports/chat-filter.ts'
import { passageOf } from '../../shared/guards/passage.ts'
import { rulesSettings } from '../../shared/rules/settings.ts'
import { Inference, type Served } from '../../../core/inference/inference.ts'
import { Catalog } from '../../../core/inference/models/catalog.ts'
import { unseenPart } from '../../shared/models/find-model.ts'
import type { Entry } from '../../../core/inference/models/catalog-entry.ts'
import { provenBy } from '../../../core/inference/proven.ts'
import { estimateOf } from '../../../core/inference/metering/tokens.ts'
import type { Supplied } from '../../../core/container.ts'
import type { Grant, SealedReply, Trailer } from '../../../core/ports/enclave.ts'
import type { Flow } from '../../../core/ports/flow.ts'
import { through } from '../../shared/through.ts'
import { usedByChat } from '../../shared/used-by-chat.ts'
import { Guard } from '../../../core/ports/guard.ts'
import { Clock } from '../../../core/ports/platform.ts'
import { type Soon, isLater } from '../../../core/ports/soon.ts'
import { Settings } from '../../../core/settings.ts'
import type { ChatBody, Chunk, Dialect, Message, Whole } from '../../../core/ports/upstream.ts'
import { utf8 } from '../wire/bytes.ts'
import { flags, frameSealer } from '../wire/frames.ts'
import { type Receipt, framesDigest } from '../wire/receipt.ts'
import { streamKey } from '../wire/schedule.ts'
import { Refusal, refusalTexts, checkParameters } from './refusals.ts'
import type { OpenedRequest } from './open.ts'
import { type PacedStream, pacedFrames } from './frame-pacing.ts'
import { type ReceiptRequest, entryOf, receiptOf } from './receipts.ts'
import { hexOf } from './long-bytes.ts'
import { refusalOf, sealedFailure, sealedReply } from './reply.ts'

export const chatNeeds = { catalog: Catalog, inference: Inference, clock: Clock, settings: Settings, guards: Guard }

/** What a model answered, before it is sealed. An answer that a guard refuses was used too. */
export type ChatResult =
  | { readonly kind: 'whole'; readonly value: unknown; readonly trailer: Trailer }
  | { readonly kind: 'refused'; readonly error: unknown; readonly trailer: Trailer }
  | { readonly kind: 'stream'; readonly chunks: Flow<PacedStream>; counted(): Trailer }

/** Decrypted parameters → inference. Throws every other failure; the caller seals it. */
export const answeredChat = async (
  params: Readonly<Record<string, unknown>>,
  grant: Grant,
  pace: Pace,
  { catalog, inference, clock, settings, guards }: Supplied<typeof chatNeeds>,
  signal: AbortSignal,
): Promise<ChatResult> => {
  const { model, provider, stream, body: given } = split(checkParameters(ChatRequest, params))
  refuseRule(settings, grant, model)
  const entry = await confidentialModel(catalog, grant, model, 'chat', signal)
  const unseen = unseenPart(entry, given)
  if (unseen !== null) throw new Refusal('invalid_parameters', unseen.path)
  const passage = passageOf(guards, { model: entry.name, organization: grant.organization, pace })
  const body = passage === null ? given : await passage.request(given, signal)
  const wanted = { ...body, ...(stream && { stream_options: { include_usage: true } }) }
  const { organization } = grant
  const task = { entry, body: wanted, provider, organization, affinity: null, ...fitting(wanted) }
  const guess = estimateOf(body)
  if (!stream) {
    const served = await inference.chat({ ...task, stream: false }, signal)
    const trailer = trailerOf(served, entry, guess.input)
    if (passage !== null) return guardedResult(passage, served.answer, entry.name, trailer)
    return { kind: 'whole', value: { ...served.answer.completion, model: entry.name }, trailer }
  }
  const patience = settings.timeouts.sealedIdle
  const served = await inference.chat({ ...task, stream: true, patience }, signal)
  const chunks = passage === null ? served.answer.chunks : marked(served.answer.chunks, passage)
  return {
    kind: 'stream',
    chunks: pacedFrames(chunks, { model: entry.name, counts: asksUsage(body) }, clock, signal),
    counted: () => trailerOf(served, entry, guess.input),
  }
}

/** One sealed answer, or frames. Throws every failure; the caller seals it. */
export const chatSealed = async (
  opened: OpenedRequest,
  grant: Grant,
  pace: Pace,
  needs: Supplied<typeof chatNeeds>,
  signal: AbortSignal,
  wish: ReceiptRequest | null,
): Promise<SealedReply> => {
  const result = await answeredChat(opened.params, grant, pace, needs, signal)
  if (result.kind === 'whole') return sealedReply(opened, result.value, result.trailer)
  if (result.kind === 'refused') return sealedFailure(opened, result.error, result.trailer)
  const { chunks, counted } = result
  let tell: (trailer: Trailer) => void = () => {}
  const trailer = new Promise<Trailer>((resolve) => (tell = resolve))
  const told: { receipt?: string } = {}
  const receiptFor =
    wish &&
    (async (answer: Uint8Array) => {
      const receipt = await receiptOf(wish, answer, counted(), needs.clock)
      told.receipt = entryOf(receipt)
      return receipt
    })
  const ended = () => tell({ ...counted(), ...told })
  const frames = framed(chunks, streamKey(opened.secret, opened.nonce), ended, receiptFor)
  return { kind: 'frames', frames, trailer }
}

/** The answer with the marks of guards, which nobody outside learns. */
const guardedResult = async (passage: Passage, answer: Whole, model: string, trailer: Trailer): Promise<ChatResult> => {
  try {
    const { completion } = await passage.answer(answer)
    return { kind: 'whole', value: { ...completion, model, ...marksOf(passage) }, trailer }
  } catch (error) {
    return { kind: 'refused', error, trailer }
  }
}

/** No member without marks, so that an answer without guards stays as the backend made it. */
const marksOf = (passage: Passage): { readonly guards?: readonly string[] } => {
  const guards = passage.marks()
  return guards.length === 0 ? {} : { guards }
}

/** The marks of guards stand in the chunk that ends the answer. */
const marked = (chunks: AsyncIterable<Chunk>, passage: Passage): Flow<Chunk> =>
  through<Chunk, Chunk>(passage.chunks(chunks), {
    take: (chunk, into) => void into.push(ends(chunk) ? { ...chunk, ...marksOf(passage) } : chunk),
  })

const ends = ({ choices }: Chunk): boolean => choices.some(({ finish_reason }) => finish_reason != null)

/** Signed thoughts go only to backends of their own kind; another backend would refuse the field. */
const fitting = (body: ChatBody): { readonly fit?: (dialect: Dialect | undefined) => { readonly body: ChatBody } } => {
  if (body.messages.every((message) => message['thinking_blocks'] === undefined)) return {}
  const messages = body.messages.map(({ thinking_blocks: _, ...message }) => message as Message)
  const plain = { ...body, messages }
  return { fit: (dialect) => ({ body: dialect === 'messages' ? body : plain }) }
}

/** Nobody outside reads the chat that a rule would look at. Throws where the key may use the rule of this name. */
const refuseRule = (settings: Settings, { models }: Grant, model: string): void => {
  if (Object.hasOwn(rulesSettings.of(settings), model) && (models === null || models.includes(model)))
    throw new Refusal('model_is_rule', 'model')
}

/** The model for a caller of sealed routes. A model that is not confidential does not exist here. */
export const confidentialModel = async (
  catalog: Catalog,
  grant: Grant,
  model: string,
  ability: 'chat' | 'decide' | 'transcribe' | 'embed',
  signal: AbortSignal,
): Promise<Entry> => {
  const entry = await catalog.find(model, signal)
  if (entry === null && !catalog.isWhole()) throw new Refusal('unavailable', 'model')
  const granted = entry !== null && (grant.models === null || grant.models.includes(entry.name))
  if (!granted || !entry.settings.confidential || !entry.does.has(ability)) throw new Refusal('unknown_model', 'model')
  const found = grant.full?.find(({ model }) => model === entry.name)
  if (found !== undefined) throw new Refusal('window_used_up', 'model', { retryAfter: found.wait })
  return entry
}

type ReceiptFor = ((answer: Uint8Array) => Promise<Receipt>) | null

/** The last frame tells whether the answer is complete. With a receipt, it carries that of all earlier frames. */
const framed = (chunks: Flow<PacedStream>, key: Uint8Array, over: () => void, receiptFor: ReceiptFor): Flow<string> => {
  const sealer = frameSealer(key)
  const digest = receiptFor && framesDigest()
  let held: Uint8Array | null = null
  const give = (plain: Uint8Array, into: string[]): void => {
    const frame = sealer(plain)
    digest?.add(frame)
    into.push(hexOf(frame))
  }
  const complete = (into: string[]): Soon<void> => {
    if (receiptFor === null || digest === null) return void into.push(hexOf(sealer(held ?? utf8(' '), flags.final)))
    if (held !== null) give(held, into)
    return receiptFor(digest.digest()).then((receipt) => {
      into.push(hexOf(sealer(utf8(JSON.stringify({ $receipt: receipt })), flags.final)))
    })
  }
  const broken = (fault: unknown, into: string[]): void => {
    const { code, field, told } = refusalOf(fault)
    const refusal = { error: { code, message: told ?? refusalTexts[code].message, ...(field !== null && { field }) } }
    into.push(hexOf(sealer(utf8(JSON.stringify(refusal)), flags.error)))
  }
  return through<PacedStream, string>(chunks, {
    take({ chunk, text }, into) {
      if (held !== null) give(held, into)
      held = null
      // Only a chunk with a finish reason can be the last. To hold back every chunk would delay each token by a tick.
      if (ends(chunk)) held = text
      else give(text, into)
    },
    end: (into, fault) => {
      if (fault !== null) return broken(fault, into)
      const given = complete(into)
      return isLater(given) ? given.catch((fault: unknown) => broken(fault, into)) : given
    },
    over,
  })
}

const trailerOf = (served: Served, entry: Entry, input: number): Trailer => {
  const { backend, size } = served
  const usage = backend === null ? null : usedByChat(input, served.usage, size)
  return { model: entry.name, backend, usage, audioSeconds: null, ...provenBy(served) }
}
