import { garbled, readObject } from '../../shared/backend.ts'
import type { Answer } from '../../../core/ports/platform.ts'
import type { EmbedCall, Embedded } from '../../../core/ports/upstream.ts'
import { vectorsOf } from '../shared/media-answers.ts'

type Post = (model: string, body: Readonly<Record<string, unknown>>) => Promise<Answer>

interface Prediction {
  readonly embeddings?: { readonly values?: unknown; readonly statistics?: { readonly token_count?: number } }
}

/** Texts of one request; Gemini's models take one. */
const mostOf = (model: string): number => (/^gemini-/.test(model) ? 1 : 100)

/** Vectors of Google's models, by predictions. */
export const embeddingsOf = async ({ model, texts, dimensions }: EmbedCall, post: Post): Promise<Embedded> => {
  const vectors: Float32Array[] = []
  let input = 0
  const most = mostOf(model)
  for (let from = 0; from < texts.length; from += most) {
    const instances = texts.slice(from, from + most).map((content) => ({ content }))
    const parameters = dimensions === undefined ? {} : { parameters: { outputDimensionality: dimensions } }
    const { predictions } = await readObject(await post(model, { instances, ...parameters }))
    if (!Array.isArray(predictions)) throw garbled('No vectors in the answer')
    const told = (predictions as readonly Prediction[]).map(({ embeddings }) => embeddings)
    vectors.push(
      ...vectorsOf(
        told.map((prediction) => ({ embedding: prediction?.values })),
        instances.length,
      ),
    )
    input += told.reduce((sum, prediction) => sum + (prediction?.statistics?.token_count ?? 0), 0)
  }
  return { vectors, usage: { input, output: 0 } }
}
