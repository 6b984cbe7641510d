import type { ChatParams } from '../../sealed/client/chat.ts'
import { type Client, connect } from '../../sealed/client/client.ts'
import type { EmbeddingParams } from '../../sealed/client/embeddings.ts'
import type {
  ChatCall,
  Chunk,
  Embedded,
  EmbedCall,
  EmbedTokensCall,
  Model,
  Upstream,
} from '../../../core/ports/upstream.ts'
import type { Flow } from '../../../core/ports/flow.ts'
import { through } from '../../shared/through.ts'
import { parsePolicy } from '../../sealed/evidence/policy.ts'
import type { Door } from '../../../core/ports/platform.ts'
import { type Faults, faultsFor } from './faults.ts'
import { fetchThrough } from './fetch-through.ts'
import { decideSealed } from './decisions.ts'
import { type Queue, queueOf, whileBusy } from './queue.ts'
import { sealedAudio, transcriptOf } from './transcript.ts'

/** What the provider takes beside its client. */
export interface SealedSettings {
  readonly name: string
  /** Sealed streams at once; further streams wait for their turn. */
  readonly streams: number
  readonly faults: Faults
  /** Ms for which a call waits while another user of the key has its places; a refusal at once when absent. */
  readonly patience?: number
}

/** A model as the other gateway lists it. */
interface Listed {
  readonly model: string
  readonly type?: Model['type']
  readonly description?: string
  readonly created?: number
  readonly input_modalities?: readonly string[]
}

/** How an operator names the other gateway, its key, and what its enclave must prove. */
interface OtherGateway {
  readonly baseUrl: string
  readonly apiKey: string
  readonly policy: object
  readonly allowInsecureDev: boolean
  readonly streams: number
}

/** Ms for which a call waits for a place: the other gateway notices a moment later that a stream was left. */
const leftMs = 2_000

/** The backend of an operator's configuration. Throws for a policy of another form. */
export const sealedBackend = (door: Door, other: OtherGateway, name: string): Upstream => {
  const { baseUrl, apiKey, allowInsecureDev, streams } = other
  const policy = { ...parsePolicy(JSON.stringify(other.policy)), allowInsecureDev }
  const client = connect({ baseUrl, apiKey, policy, fetch: fetchThrough(door) })
  return sealedUpstream(client, { name, streams, faults: faultsFor('operator'), patience: leftMs })
}

/** A backend behind another gateway's enclave. Calls are sealed before they leave this process. */
export const sealedUpstream = (client: Client, { name, streams, faults, patience = 0 }: SealedSettings): Upstream => {
  const queue = queueOf(streams)
  const told = (cause: unknown): never => {
    throw faults(cause)
  }
  const asking = <T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> =>
    whileBusy(ask, patience, signal).catch(told)
  const embed = async (
    { model, dimensions }: EmbedCall | EmbedTokensCall,
    input: EmbeddingParams['input'],
    signal: AbortSignal,
  ): Promise<Embedded> => {
    const params = { model, input, encoding_format: 'base64', ...(dimensions !== undefined && { dimensions }) } as const
    const { data, usage } = await asking(() => client.embeddings.create(params, { signal }), signal)
    return {
      vectors: data.map(({ embedding }) => vectorOf(embedding)),
      usage: { input: usage.prompt_tokens, output: 0, ...(usage.estimated && { estimated: true }) },
    }
  }
  return {
    name,
    dialect: 'sealed',

    async models() {
      const listed = (await client.models.list().catch(told)) as readonly Listed[]
      return listed.map(modelOf)
    },

    async chat(call, signal) {
      const { create } = client.chat.completions
      if (!call.stream) {
        const completion = await asking(() => create({ ...paramsOf(call), stream: false }, { signal }), signal)
        return { kind: 'completion', completion }
      }
      const leave = await placeIn(queue, signal)
      try {
        const chunks = await asking(() => create({ ...paramsOf(call), stream: true }, { signal }), signal)
        return { kind: 'chunks', chunks: untilLeft(chunks, leave, faults) }
      } catch (error) {
        leave()
        throw error
      }
    },

    async transcribe(call, signal) {
      const { transcriptions, translations } = client.audio
      const hearing = call.translate === true ? translations : transcriptions
      return transcriptOf(await asking(() => hearing.create(sealedAudio(call), { signal }), signal))
    },

    decide: (call, signal) =>
      decideSealed(call, (params) => asking(() => client.decisions.create(params, { signal }), signal)),

    embed: (call, signal) => embed(call, call.texts, signal),
    embedTokens: (call, signal) => embed(call, call.tokens, signal),
  }
}

/** Streams are counted by their usage. A receipt belongs to who seals, so a caller's wish for one stays here. */
const paramsOf = ({ model, body, stream }: ChatCall): ChatParams => {
  const { receipt: _, ...rest } = body
  return { ...rest, model, ...(stream && { stream_options: { include_usage: true } }) } as ChatParams
}

/** The place is given back at the latest when the call is aborted. */
const placeIn = async (queue: Queue, signal: AbortSignal): Promise<() => void> => {
  const leave = await queue.enter(signal)
  signal.addEventListener('abort', leave, { once: true })
  return () => {
    signal.removeEventListener('abort', leave)
    leave()
  }
}

/** An enclave's chunks have each member, so that their lengths tell nothing; callers get those that say something. */
const saying = ({ usage, choices, ...head }: Chunk): Chunk => ({
  ...head,
  choices: choices.map(({ index, finish_reason, delta, ...rest }) => ({
    ...{ index, finish_reason, delta: spoken(delta) },
    ...spoken(rest),
  })),
  ...(usage != null && { usage }),
})

const spoken = <T extends object>(piece: T): T =>
  Object.fromEntries(Object.entries(piece).filter(([, value]) => value !== null)) as T

/** Gives the place back with the last chunk, a fault, or the reader's end. */
const untilLeft = (chunks: AsyncIterable<Chunk>, leave: () => void, faults: Faults): Flow<Chunk> =>
  through<Chunk, Chunk>(chunks, {
    take: (chunk, into) => void into.push(saying(chunk)),
    end(_, fault) {
      if (fault !== null) throw faults(fault)
    },
    over: leave,
  })

const modelOf = ({ model, type = 'CHAT', description, created, input_modalities }: Listed): Model => ({
  id: model,
  type,
  ...(description !== undefined && description !== '' && { description }),
  ...(created !== undefined && { created }),
  ...(input_modalities !== undefined && { modalities: input_modalities }),
})

/** Vectors come as the bytes of 32-bit floats in base64, or as numbers. */
const vectorOf = (embedding: readonly number[] | string): Float32Array => {
  if (typeof embedding !== 'string') return Float32Array.from(embedding)
  const bytes = new Uint8Array(Buffer.from(embedding, 'base64'))
  return new Float32Array(bytes.buffer, 0, Math.floor(bytes.length / 4))
}
