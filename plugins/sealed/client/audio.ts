import { utf8 } from '../wire/bytes.ts'
import { type Options, type SendSealed, inferenceNames, wholeAnswer } from './send-sealed.ts'

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

/** `translations` gives English text. An abort throws the signal's reason. */
export const audioTranscriber = (send: SendSealed, verb: 'transcriptions' | 'translations'): TranscribeAudio => ({
  async create({ file, ...params }, options = {}) {
    const isBlob = file instanceof Blob
    const name = (isBlob ? (file as Partial<File>).name : file.name) || 'audio'
    const bytes = isBlob ? new Uint8Array(await file.arrayBuffer()) : file.bytes
    const parts = {
      encryptedFileName: { bytes: utf8(name), nonce: 'fileNameNonce' },
      encryptedFile: { bytes, nonce: 'fileNonce' },
    }
    const sent = await send(
      `rvenc/audio/${verb}`,
      params,
      options,
      inferenceNames,
      () => ({ model: params.model }),
      parts,
    )
    return (await wholeAnswer(sent, options, true)) as AudioAnswer
  },
})
