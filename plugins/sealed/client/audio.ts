import { utf8 } from '../wire/bytes.ts'
import { cutBy } from './error.ts'
import type { Options } from './chat.ts'
import type { SendSealed } from './send-sealed.ts'
import { receiptBeside } from './receipts.ts'
import { openAnswer } from './seal-request.ts'

/** The parameters of the route in the clear, with a file in place of the form. */
export interface AudioParams {
  readonly model: string
  /** A File, or bytes with a name. */
  readonly file: Blob | { readonly name: string; readonly bytes: Uint8Array }
  /** ISO 639-1, such as `de`. */
  readonly language?: string
  readonly detect_language?: boolean
  readonly prompt?: string
  readonly temperature?: number
  readonly diarize?: boolean
  readonly smart_format?: boolean
  readonly punctuate?: boolean
  readonly utterances?: boolean
  readonly response_format?: string
  readonly timestamp_granularities?: readonly ('word' | 'segment')[]
}

/** The backend's own form: `metadata`, where `ignored` lists options without effect, and `results`. */
export interface AudioAnswer {
  readonly metadata: Readonly<Record<string, unknown>>
  readonly results: {
    readonly channels: readonly { readonly alternatives: readonly { readonly transcript: string }[] }[]
  }
}

/** Sound that only the enclave hears. */
export interface TranscribeAudio {
  create(params: AudioParams, options?: Options): Promise<AudioAnswer>
}

const names = { params: 'encryptedInference', kid: 'enclaveKid' }

/** `translations` gives English text. An abort throws the signal's reason. */
export const audioTranscriber = (send: SendSealed, verb: 'transcriptions' | 'translations'): TranscribeAudio => ({
  async create({ file, ...params }, { signal, receipt, answered } = {}) {
    const isBlob = file instanceof Blob
    const name = (isBlob ? (file as Partial<File>).name : file.name) || 'audio'
    const bytes = isBlob ? new Uint8Array(await file.arrayBuffer()) : file.bytes
    const parts = {
      encryptedFileName: { bytes: utf8(name), nonce: 'fileNameNonce' },
      encryptedFile: { bytes, nonce: 'fileNonce' },
    }
    const sent = await send(
      `rvenc/audio/${verb}`,
      receipt ? { ...params, receipt: true } : params,
      signal ?? null,
      names,
      () => ({ model: params.model }),
      parts,
    )
    answered?.(sent.answer.headers.get('x-request-id'))
    const { data } = (await sent.answer.json().catch(cutBy(signal ?? null))) as { data: unknown }
    const heard = openAnswer(sent.request, data) as AudioAnswer
    receipt?.(receiptBeside(sent.request, data))
    return heard
  },
})
