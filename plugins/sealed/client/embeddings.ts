import type { Options } from './chat.ts'
import { cutBy } from './error.ts'
import { receiptBeside } from './receipts.ts'
import { openAnswer } from './seal-request.ts'
import type { SendSealed } from './send-sealed.ts'

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
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number }
}

/** Sealed embeddings. A call throws SealgateError, or the signal's reason after an abort. */
export interface Embedder {
  create(params: EmbeddingParams, options?: Options): Promise<Embeddings>
}

const names = { params: 'encryptedInference', kid: 'enclaveKid' }

/** Vectors of texts that only the enclave reads. */
export const embedder = (send: SendSealed): Embedder => ({
  async create(params, { signal, receipt, answered } = {}) {
    const body = receipt ? { ...params, receipt: true } : { ...params }
    const sent = await send('rvenc/embeddings', body, signal ?? null, names)
    answered?.(sent.answer.headers.get('x-request-id'))
    const answer: unknown = await sent.answer.json().catch(cutBy(signal ?? null))
    const made = openAnswer(sent.request, answer) as Embeddings
    receipt?.(receiptBeside(sent.request, answer))
    return made
  },
})
