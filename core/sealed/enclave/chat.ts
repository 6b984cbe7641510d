import { ChatRequest, asksUsage, split, usageOf, withoutUsage } from '../../dialects/chat-completions.ts'
import { Inference, type Served } from '../../inference/inference.ts'
import { Catalog } from '../../inference/models/catalog.ts'
import type { Entry } from '../../inference/models/catalog-entry.ts'
import { estimateOf } from '../../inference/metering/tokens.ts'
import type { Supplied } from '../../container.ts'
import type { Grant, SealedReply, Trailer } from '../../ports/enclave.ts'
import { Clock } from '../../ports/platform.ts'
import type { Chunk, Usage } from '../../ports/upstream.ts'
import { utf8 } from '../wire/bytes.ts'
import { flags, frameSealer } from '../wire/frames.ts'
import { toHex } from '../wire/hex.ts'
import { streamKey } from '../wire/schedule.ts'
import { Refusal, catalogue, parameters } from './refusals.ts'
import type { Opened } from './open.ts'
import { type Paced, paced } from './frame-pacing.ts'
import { refusalOf, sealedReply } from './reply.ts'

export const chatNeeds = { catalog: Catalog, inference: Inference, clock: Clock }

/** Decrypted parameters → inference → one sealed answer, or frames. Throws what went wrong; the caller seals it. */
export const chat = async (
  opened: Opened,
  grant: Grant,
  { catalog, inference, clock }: Supplied<typeof chatNeeds>,
  signal: AbortSignal,
): Promise<SealedReply> => {
  const { params, secret, nonce } = opened
  const { model, provider, stream, body } = split(parameters(ChatRequest, params))
  const entry = await confidential(catalog, grant, model, 'chat', signal)
  const asked = { ...body, ...(stream && { stream_options: { include_usage: true } }) }
  const task = { entry, body: asked, provider, affinity: null }
  const guess = estimateOf(body)
  if (!stream) {
    const it = await inference.chat({ ...task, stream: false }, signal)
    return sealedReply(opened, { ...it.answer.completion, model: entry.name }, trailerOf(it, entry, guess.input))
  }
  const it = await inference.chat({ ...task, stream: true }, signal)
  let tell: (trailer: Trailer) => void = () => {}
  const trailer = new Promise<Trailer>((resolve) => (tell = resolve))
  const chunks = shown(it.answer.chunks, asksUsage(body))
  const ended = () => tell(trailerOf(it, entry, guess.input))
  const frames = framed(paced(chunks, entry.name, clock, signal), streamKey(secret, nonce), ended)
  return { kind: 'frames', frames, trailer }
}

/** The model that a caller of the sealed routes asks for; models that are not confidential don't exist here. */
export const confidential = async (
  catalog: Catalog,
  grant: Grant,
  model: string,
  ability: 'chat' | 'decide' | 'transcribe',
  signal: AbortSignal,
): Promise<Entry> => {
  const entry = await catalog.find(model, signal)
  const granted = entry !== null && (grant.models === null || grant.models.includes(entry.name))
  if (!granted || !entry.settings.confidential || !entry.does.has(ability)) throw new Refusal('unknown_model', 'model')
  return entry
}

/** Usage is for those who asked. Passed on untouched where it can be: this runs for every token. */
const shown = (chunks: AsyncIterable<Chunk>, usage: boolean): AsyncIterable<Chunk> =>
  usage ? chunks : withoutCounts(chunks)

async function* withoutCounts(chunks: AsyncIterable<Chunk>): AsyncGenerator<Chunk> {
  for await (const chunk of chunks) {
    const kept = withoutUsage(chunk)
    if (kept !== null) yield kept
  }
}

/** The last frame says whether the answer is whole. */
async function* framed(chunks: AsyncIterable<Paced>, key: Uint8Array, ended: () => void): AsyncGenerator<string> {
  const seal = frameSealer(key)
  try {
    let held: Uint8Array | null = null
    for await (const { chunk, text } of chunks) {
      if (held !== null) yield toHex(seal(held))
      held = null
      // Only a chunk that finishes can be the last; holding back every one would cost each token a tick.
      if (chunk.choices.some(({ finish_reason }) => finish_reason != null)) held = text
      else yield toHex(seal(text))
    }
    yield toHex(seal(held ?? utf8(' '), flags.final))
  } catch (error) {
    const { code } = refusalOf(error)
    const said = { error: { code, message: catalogue[code].message } }
    yield toHex(seal(utf8(JSON.stringify(said)), flags.error))
  } finally {
    ended()
  }
}

const trailerOf = (it: Served, entry: Entry, input: number): Trailer => {
  const counted = usageOf(it.usage)
  const usage: Usage = counted ?? { input, output: Math.ceil(it.size / 4), estimated: true }
  return { model: entry.name, backend: it.backend, usage: it.backend === null ? null : usage, audioSeconds: null }
}
