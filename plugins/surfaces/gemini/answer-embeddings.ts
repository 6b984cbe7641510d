import type { Caller } from '../../../core/access/caller.ts'
import type { Supplied } from '../../../core/container.ts'
import { refuseMember } from '../../shared/members.ts'
import { type Reply, json, text } from '../../../core/http/reply.ts'
import type { Request } from '../../../core/http/route.ts'
import { countedOf, printVectors } from '../../shared/embedding.ts'
import { servedModel } from '../../shared/models/find-model.ts'
import { tokensOf } from '../../../core/inference/metering/tokens.ts'
import { settled } from '../shared/settle.ts'
import type { EmbedRequest } from '../../shared/dialects/generate-content/shape.ts'
import { camel } from '../../shared/dialects/generate-content/spelling.ts'
import type { askNeeds } from '../shared/chat-needs.ts'

/** The text of a content. Parts that are no text have no vector here. */
const textOf = ({ content }: EmbedRequest, path: string): string => {
  const texts = content.parts.map(
    ({ text: words }, at) => words ?? refuseMember(`${path}content.parts.${at}.text`, 'Expected string'),
  )
  return texts.join('\n')
}

/** The name without its folder, which clients put before it. */
const bare = (model: string): string => model.replace(/^models\//, '')

/** The vectors of some contents, by one call of one backend. */
export const embedContents = async (
  {
    caller,
    record,
    params,
    signal,
  }: Pick<Request<unknown, unknown, Caller>, 'caller' | 'record' | 'params' | 'signal'>,
  spelled: readonly EmbedRequest[],
  { catalog, inference, meter }: Supplied<typeof askNeeds>,
  pathOf: (at: number) => string,
): Promise<{ readonly vectors: readonly Float32Array[]; readonly headers: Readonly<Record<string, string>> }> => {
  const model = params['model'] ?? ''
  const requests = spelled.map((request) => camel(request) as EmbedRequest)
  const { outputDimensionality: dimensions } = requests[0]!
  const texts = requests.map((request, at) => {
    const named = bare(request.model ?? model)
    if (named !== model) refuseMember(`${pathOf(at)}model`, 'Expected the model of the path')
    if (request.outputDimensionality !== dimensions)
      refuseMember(`${pathOf(at)}outputDimensionality`, 'Expected the same for all requests')
    return textOf(request, pathOf(at))
  })
  const entry = await servedModel(catalog, caller, model, 'embed', signal)
  const input = texts.reduce((sum, text) => sum + tokensOf(text), 0)
  const reservation = await meter.reserve(caller, entry, { input, output: 0 }, record)
  const running = inference.run(
    { entry, ability: 'embed', provider: null, request: record.id },
    ({ upstream, model }, signal) =>
      upstream.embed({ model, texts, ...(dimensions != null && { dimensions }) }, signal),
    signal,
  )
  const { vectors } = await settled(reservation, running, countedOf)
  const dropped = (['taskType', 'title'] as const).filter((name) => requests.some((request) => request[name] != null))
  const told = dropped.length === 0 ? {} : { 'x-sealgate-dropped': dropped.join(', ') }
  return { vectors, headers: { ...reservation.headers, ...told } }
}

const worded = (vector: Float32Array) => ({ values: Array.from(vector) })

/** The vector of one content. */
export const embedOne = async (
  request: Request<EmbedRequest, unknown, Caller>,
  given: Supplied<typeof askNeeds>,
): Promise<Reply> => {
  const { vectors, headers } = await embedContents(request, [request.input], given, () => '')
  return json({ embedding: worded(vectors[0]!) }, 200, headers)
}

/** The vectors of several contents, in their order. */
export const embedBatch = async (
  request: Request<{ readonly requests: readonly EmbedRequest[] }, unknown, Caller>,
  given: Supplied<typeof askNeeds>,
): Promise<Reply> => {
  const { vectors, headers } = await embedContents(request, request.input.requests, given, (at) => `requests.${at}.`)
  const printed = await printVectors(vectors, { before: '{"embeddings":[', item: worded, behind: ']}' })
  return text(printed, undefined, 200, headers)
}
