import type { Caller } from '../../../core/access/caller.ts'
import type { Supplied } from '../../../core/container.ts'
import { wireUsage } from '../../../core/dialects/chat-completions.ts'
import { type Reply, json } from '../../../core/http/reply.ts'
import type { Request } from '../../../core/http/route.ts'
import { usedIn } from '../../shared/embedding.ts'
import { servedModel } from '../../shared/models/find-model.ts'
import { tokensOf } from '../../../core/inference/metering/tokens.ts'
import type { Upstream } from '../../../core/ports/upstream.ts'
import { modelAble } from '../../shared/model-able.ts'
import { moreOf, type RerankCall, type Reranked } from '../../shared/more-abilities.ts'
import { settled } from '../shared/settle.ts'
import type { askNeeds } from '../shared/chat-needs.ts'

/** Documents and the query that they shall answer. */
interface RerankRequest {
  readonly model: string
  readonly query: string
  readonly documents: readonly (string | { readonly text: string })[]
  readonly top_n?: number | null | undefined
  readonly return_documents?: boolean | null | undefined
}

/** Texts, or parts of text and images. */
interface ModerationRequest {
  readonly model: string
  readonly input: string | readonly (string | { readonly type: string; readonly text?: unknown })[]
}

type Given = Supplied<typeof askNeeds>

/** A model of this name reranks where its backend has the route; every other one compares vectors. */
const reranker = /rerank/i

interface RankedDocuments extends Reranked {
  readonly engine: 'native' | 'embeddings'
}

const ranked = async (
  upstream: Upstream & Required<Pick<Upstream, 'embed'>>,
  call: RerankCall,
  signal: AbortSignal,
): Promise<RankedDocuments> => {
  const { rerank } = moreOf(upstream)
  if (rerank !== undefined && reranker.test(call.model)) return { ...(await rerank(call, signal)), engine: 'native' }
  const texts = [call.query, ...call.documents]
  const answer = await upstream.embed({ model: call.model, texts }, signal)
  const [query, ...documents] = answer.vectors as readonly [Float32Array, ...Float32Array[]]
  const relevances = documents.map((document, index) => ({ index, score: likeness(query, document) }))
  return { relevances, usage: usedIn(answer, { input: texts }), engine: 'embeddings' }
}

/** The cosine of two vectors, 0 where one of them has no length or they point apart. */
const likeness = (one: Float32Array, other: Float32Array): number => {
  const product = dot(one, other)
  return product <= 0 ? 0 : Math.min(1, product / Math.sqrt(dot(one, one) * dot(other, other)))
}

const dot = (one: Float32Array, other: Float32Array): number =>
  one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)

/** Documents in the order of their relevance; equal ones stay in the order in which they came. */
export const rerank = async (
  { id, input, record, caller, signal }: Request<RerankRequest, unknown, Caller>,
  { catalog, inference, meter }: Given,
): Promise<Reply> => {
  const documents = input.documents.map((document) => (typeof document === 'string' ? document : document.text))
  const entry = await servedModel(catalog, caller, input.model, 'embed', signal)
  const tokens = [input.query, ...documents].reduce((sum, text) => sum + tokensOf(text), 0)
  const reservation = await meter.reserve(caller, entry, { input: tokens, output: 0 }, record)
  const running = inference.run(
    { entry, ability: 'embed', provider: null, request: record.id },
    ({ upstream, model }, signal) => ranked(upstream, { model, query: input.query, documents }, signal),
    signal,
  )
  const { relevances, usage, engine } = await settled(reservation, running, (made) => made.usage)
  const results = relevances
    .toSorted((one, other) => other.score - one.score || one.index - other.index)
    .slice(0, input.top_n ?? relevances.length)
    .map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(input.return_documents !== false && { document: { text: documents[index] } }),
    }))
  const { prompt_tokens, total_tokens, estimated } = wireUsage(usage)
  const told = { prompt_tokens, total_tokens, ...(estimated === true && { estimated }) }
  const body = { object: 'rerank', model: entry.name, results, usage: told, meta: { engine } }
  return json({ id, ...body }, 200, reservation.headers)
}

const textsOf = ({ input }: ModerationRequest): readonly string[] =>
  typeof input === 'string'
    ? [input]
    : input.map((item) => (typeof item === 'string' ? item : typeof item.text === 'string' ? item.text : ''))

/** The vendor's own answer, under the caller's name of the model. */
export const moderate = async (
  { input, record, caller, signal }: Request<ModerationRequest, unknown, Caller>,
  { catalog, inference, meter }: Given,
): Promise<Reply> => {
  const found = await servedModel(catalog, caller, input.model, 'chat', signal)
  const entry = modelAble(found, (upstream) => moreOf(upstream).moderate !== undefined, 'model', 'expected a model whose backend moderates') // prettier-ignore
  const tokens = textsOf(input).reduce((sum, text) => sum + tokensOf(text), 0)
  const reservation = await meter.reserve(caller, entry, { input: tokens, output: 0 }, record)
  const running = inference.run(
    { entry, ability: 'chat', provider: null, request: record.id },
    ({ upstream, model }, signal) => moreOf(upstream).moderate!({ model, input: input.input }, signal),
    signal,
  )
  const { body } = await settled(reservation, running, () => ({ input: tokens, output: 0, estimated: true }))
  return json(Object.assign(body, { model: entry.name }), 200, reservation.headers)
}
