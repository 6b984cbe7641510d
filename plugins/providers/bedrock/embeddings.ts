import { readObject } from '../../shared/backend.ts'
import { BadRequest } from '../../../core/errors.ts'
import type { Answer } from '../../../core/ports/platform.ts'
import type { EmbedCall, Embedded } from '../../../core/ports/upstream.ts'
import { vectorsOf } from '../shared/media-answers.ts'

/** Sends a body to a model. */
type Invoke = (model: string, body: object) => Promise<Answer>

/** Texts of one request to a model of Cohere. */
const most = 96

/** Vectors of the models by Amazon and Cohere; each vendor has a form of its own. Throws BadRequest for another model. */
export const embeddingsOf = async (
  { model, texts, dimensions, extra }: EmbedCall,
  invoke: Invoke,
): Promise<Embedded> => {
  if (/titan-embed/.test(model)) {
    const body = (inputText: string) => ({ ...extra, inputText, ...(dimensions !== undefined && { dimensions }) })
    const answers: Record<string, unknown>[] = []
    for (const text of texts) answers.push(await readObject(await invoke(model, body(text))))
    const input = answers.reduce((sum, { inputTextTokenCount: count }) => sum + Number(count ?? 0), 0)
    return { vectors: vectorsOf(answers, texts.length), usage: { input, output: 0 } }
  }
  if (!/cohere\.embed/.test(model)) throw new BadRequest('The model gives no vectors')
  const vectors: Float32Array[] = []
  let input = 0
  for (let from = 0; from < texts.length; from += most) {
    const some = texts.slice(from, from + most)
    const wanted = dimensions === undefined ? {} : { output_dimension: dimensions, embedding_types: ['float'] }
    const answer = await invoke(model, { input_type: 'search_document', ...extra, texts: some, ...wanted })
    const { embeddings } = await readObject(answer)
    const rows = Array.isArray(embeddings) ? embeddings : (embeddings as { float?: unknown } | null)?.float
    const told = Array.isArray(rows) ? rows.map((embedding: unknown) => ({ embedding })) : null
    vectors.push(...vectorsOf(told, some.length))
    input += Number(answer.header('x-amzn-bedrock-input-token-count') ?? 0)
  }
  return { vectors, usage: { input, output: 0 } }
}
