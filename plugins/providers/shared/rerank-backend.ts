import { isJsonObject, type JsonObject } from '../../../core/dialects/json-object.ts'
import { tokensOf } from '../../../core/inference/metering/tokens.ts'
import { garbled, readAnswer } from '../../shared/backend.ts'
import type { MoreAbilities, Relevance, RerankCall, Reranked } from '../../shared/more-abilities.ts'
import { type JsonRoute, postedJson } from './posted-json.ts'

/** The route that vendors of rerankers share. */
export const rerankBackend =
  (route: JsonRoute): NonNullable<MoreAbilities['rerank']> =>
  async (call, signal) => {
    const { model, query, documents } = call
    const answer = await postedJson(route, { model, query, documents, top_n: documents.length }, signal)
    return rerankedOf(await readAnswer(answer), call, answer.status)
  }

const rerankedOf = (body: JsonObject, call: RerankCall, status: number): Reranked => {
  const results: readonly unknown[] = Array.isArray(body['results']) ? body['results'] : []
  const relevances = results.flatMap((result): readonly Relevance[] => {
    const { index, relevance_score: score } = isJsonObject(result) ? result : {}
    const fits = Number.isInteger(index) && (index as number) >= 0 && (index as number) < call.documents.length
    return fits && Number.isFinite(score) ? [{ index: index as number, score: score as number }] : []
  })
  const places = new Set(relevances.map(({ index }) => index))
  if (places.size !== call.documents.length || relevances.length !== places.size)
    throw garbled('The answer has not one score for each document', status)
  return { relevances, usage: usageOf(body, call) }
}

/** A reranker reads the query with each document. Some vendors count searches in place of tokens. */
const usageOf = ({ usage }: JsonObject, { query, documents }: RerankCall): Reranked['usage'] => {
  const { prompt_tokens: prompt, total_tokens: total } = isJsonObject(usage) ? usage : {}
  const told = [prompt, total].find((tokens) => Number.isSafeInteger(tokens) && (tokens as number) > 0)
  if (told !== undefined) return { input: told as number, output: 0 }
  const guess = documents.reduce((sum, text) => sum + tokensOf(text), documents.length * tokensOf(query))
  return { input: guess, output: 0, estimated: true }
}
