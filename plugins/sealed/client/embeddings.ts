import { type Options, type SendSealed, inferenceNames, wholeAnswer } from './send-sealed.ts'

/** The parameters of the route in the clear. */
export interface EmbeddingParams {
  readonly model: string
  /** One text or several, or lists of the model's own tokens. */
  readonly input: string | readonly string[] | readonly number[] | readonly (readonly number[])[]
  readonly encoding_format?: 'float' | 'base64'
  readonly dimensions?: number
  readonly provider?: string
}

/** The answer of the route in the clear. */
export interface Embeddings {
  readonly object: 'list'
  /** One for each text, in order; the bytes of 32-bit floats in base64, or numbers. */
  readonly data: readonly {
    readonly object: 'embedding'
    readonly index: number
    readonly embedding: readonly number[] | string
  }[]
  readonly model: string
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number; readonly estimated?: boolean }
}

/** Sealed embeddings. A call throws SealgateError, or the signal's reason after an abort. */
export interface Embedder {
  create(params: EmbeddingParams, options?: Options): Promise<Embeddings>
}

/** Vectors of texts that only the enclave reads. */
export const embedder = (send: SendSealed): Embedder => ({
  async create(params, options = {}) {
    return (await wholeAnswer(await send('rvenc/embeddings', params, options, inferenceNames), options)) as Embeddings
  },
})
