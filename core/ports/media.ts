import type { BackendAnswer } from './backend-evidence.ts'

/** A file of a request, whole in memory. */
export interface MediaFile {
  /** With its ending, by which some backends choose the decoder. */
  readonly name: string
  readonly mime: string
  readonly bytes: Uint8Array
}

/** Speech that becomes text. Absent options are the backend's own. */
export interface TranscribeCall {
  readonly model: string
  readonly audio: MediaFile
  /** Translates into English. */
  readonly translate?: boolean
  /** ISO 639-1, such as `de`; the backend detects the language when absent. */
  readonly language?: string
  /** Words that the speech may hold, such as names; no instruction. */
  readonly prompt?: string
  /** From 0 to 1. */
  readonly temperature?: number
  /** Asks who speaks each word. */
  readonly diarize?: boolean
  /** Asks for numbers and dates as people write them. */
  readonly smartFormat?: boolean
  /** Absent means the backend's default. */
  readonly punctuate?: boolean
  readonly utterances?: boolean
  readonly detectLanguage?: boolean
  readonly granularities?: readonly ('word' | 'segment')[]
  /** Fields of the common form that the gateway does not know, in order. */
  readonly extra?: readonly (readonly [name: string, value: string])[]
}

/** Options of a transcription that a backend may lack. */
export type TranscribeOption = Exclude<keyof TranscribeCall, 'model' | 'audio' | 'translate' | 'extra'>

/** A word or a segment with its time. */
export interface Spoken {
  readonly text: string
  /** In seconds. */
  readonly start: number
  readonly end: number
  /** A number from 0; absent when the speaker is unknown. */
  readonly speaker?: number
  /** From 0 to 1; absent where the backend gives none. */
  readonly confidence?: number
}

/** Speech as text, in a form that fits all backends. */
export interface Transcript extends BackendAnswer {
  readonly text: string
  /** As the backend names it; null when it does not. */
  readonly language: string | null
  /** In seconds; null when the backend does not report it. */
  readonly duration: number | null
  /** Empty, like `words`, where the backend gives no times. */
  readonly segments: readonly Spoken[]
  readonly words: readonly Spoken[]
  /** The backend's own answer, when it already has `metadata` and `results`. */
  readonly native?: Readonly<Record<string, unknown>>
  /** The backend's own answer in the common audio format; its `segments` have the same order. */
  readonly answer?: Readonly<Record<string, unknown>>
  /** Options of the call without effect on this backend; absent when the backend does not report them. */
  readonly ignored?: readonly TranscribeOption[]
}

/** An event of the common audio format, such as `transcript.text.delta`. */
export interface TranscriptEvent {
  readonly type: string
  readonly [field: string]: unknown
}

/** An answer that arrives while the backend makes it. */
export interface Ongoing<Part> {
  readonly parts: AsyncIterable<Part>
}

/** Text that becomes speech. */
export interface SpeakCall {
  readonly model: string
  readonly text: string
  readonly voice?: string | { readonly id: string }
  /** The manner of speaking; backends without this option ignore it. */
  readonly instructions?: string
  /** mp3, opus, aac, flac, wav or pcm. */
  readonly format?: string
  /** A factor; 1 is the voice's own speed. */
  readonly speed?: number
  /** Fields of the common format that the gateway does not know. */
  readonly extra?: Readonly<Record<string, unknown>>
}

/** A picture from words. */
export interface DrawCall {
  readonly model: string
  readonly prompt: string
  /** The number of pictures; 1 when absent. */
  readonly count?: number
  /** Width and height in pixels, such as `1024x1024`; the backend's own when absent. */
  readonly size?: string
  /** Fields of the common format that the gateway does not know. */
  readonly extra?: Readonly<Record<string, unknown>>
}

/** A picture from words and other pictures. */
export interface EditCall extends DrawCall {
  /** The image to change, and further images for the model. */
  readonly images: readonly MediaFile[]
  /** Transparent where the first image may change. */
  readonly mask?: MediaFile
}

/** Made bytes with their type. */
export interface Media {
  readonly mime: string
  readonly bytes: Uint8Array
}

export interface Picture extends Media {
  /** The prompt as the model rewrote it. */
  readonly revisedPrompt?: string
}

/** Images, with the backend's further fields: `usage`, `size`, `quality`. */
export interface Drawn extends ReadonlyArray<Picture> {
  readonly about?: Readonly<Record<string, unknown>>
}

/** The abilities to transcribe, speak and draw; each is absent when the backend lacks it. */
export interface MakesMedia {
  transcribe?(call: TranscribeCall, signal: AbortSignal): Promise<Transcript>
  /** Ends with `transcript.text.done`. When it is absent, the caller gets the whole transcript at once. */
  streamTranscript?(call: TranscribeCall, signal: AbortSignal): Promise<Ongoing<TranscriptEvent>>
  speak?(call: SpeakCall, signal: AbortSignal): Promise<Media>
  /** Like `speak`, with the bytes as they arrive. When it is absent, the caller gets the whole sound at once. */
  streamSpeech?(call: SpeakCall, signal: AbortSignal): Promise<Ongoing<Uint8Array> & { readonly mime: string }>
  draw?(call: DrawCall, signal: AbortSignal): Promise<Drawn>
  edit?(call: EditCall, signal: AbortSignal): Promise<Drawn>
}
