export interface MediaFile {
  readonly name: string
  readonly mime: string
  readonly bytes: Uint8Array
}

export interface TranscribeCall {
  readonly model: string
  readonly audio: MediaFile
  /** Into English instead of the spoken language. */
  readonly translate?: boolean
  readonly language?: string
  readonly prompt?: string
  readonly temperature?: number
  readonly diarize?: boolean
  readonly smartFormat?: boolean
  /** Absent: as the backend does it by itself. */
  readonly punctuate?: boolean
  readonly utterances?: boolean
  readonly detectLanguage?: boolean
  readonly granularities?: readonly ('word' | 'segment')[]
  /** Fields of the common form that the gateway does not know, in their order. */
  readonly extra?: readonly (readonly [name: string, value: string])[]
}

/** What a caller may ask of a transcription and a backend may lack. */
export type TranscribeOption = Exclude<keyof TranscribeCall, 'model' | 'audio' | 'translate' | 'extra'>

export interface Spoken {
  readonly text: string
  /** Seconds. */
  readonly start: number
  readonly end: number
  readonly speaker?: number
  readonly confidence?: number
}

export interface Transcript {
  readonly text: string
  readonly language: string | null
  /** Seconds, where the backend tells. */
  readonly duration: number | null
  readonly segments: readonly Spoken[]
  readonly words: readonly Spoken[]
  /** The backend's own answer, when it already has `metadata` and `results`. */
  readonly native?: Readonly<Record<string, unknown>>
  /** The backend's own answer in the common audio format; its `segments` are in the order of those above. */
  readonly answer?: Readonly<Record<string, unknown>>
  /** Options of the call that the backend has no place for; absent where it does not tell. */
  readonly ignored?: readonly TranscribeOption[]
}

/** An event of the common audio format, such as `transcript.text.delta`. */
export interface TranscriptEvent {
  readonly type: string
  readonly [field: string]: unknown
}

/** An answer that comes as the backend makes it. */
export interface Ongoing<Part> {
  readonly parts: AsyncIterable<Part>
}

export interface SpeakCall {
  readonly model: string
  readonly text: string
  readonly voice?: string
  /** How to speak; backends that don't take it leave it. */
  readonly instructions?: string
  /** mp3, opus, aac, flac, wav or pcm. */
  readonly format?: string
  readonly speed?: number
  /** Fields of the common format that the gateway does not know. */
  readonly extra?: Readonly<Record<string, unknown>>
}

export interface DrawCall {
  readonly model: string
  readonly prompt: string
  readonly count?: number
  readonly size?: string
  /** Fields of the common format that the gateway does not know. */
  readonly extra?: Readonly<Record<string, unknown>>
}

export interface EditCall extends DrawCall {
  /** What is changed, and what else the model shall look at. */
  readonly images: readonly MediaFile[]
  /** Transparent where the first image may change. */
  readonly mask?: MediaFile
}

export interface Media {
  readonly mime: string
  readonly bytes: Uint8Array
}

export interface Picture extends Media {
  /** The prompt that the model made of the caller's. */
  readonly revisedPrompt?: string
}

/** Images, with the fields that the backend tells beside them: `usage`, `size`, `quality`. */
export interface Drawn extends ReadonlyArray<Picture> {
  readonly about?: Readonly<Record<string, unknown>>
}

/** The abilities to hear, speak and draw; each is absent where the backend lacks it. */
export interface MakesMedia {
  transcribe?(call: TranscribeCall, signal: AbortSignal): Promise<Transcript>
  /** Ends with `transcript.text.done`. Where it is absent, the whole is told at once. */
  streamTranscript?(call: TranscribeCall, signal: AbortSignal): Promise<Ongoing<TranscriptEvent>>
  speak?(call: SpeakCall, signal: AbortSignal): Promise<Media>
  /** As `speak`, its bytes as they come. Where it is absent, the whole is given at once. */
  streamSpeech?(call: SpeakCall, signal: AbortSignal): Promise<Ongoing<Uint8Array> & { readonly mime: string }>
  draw?(call: DrawCall, signal: AbortSignal): Promise<Drawn>
  edit?(call: EditCall, signal: AbortSignal): Promise<Drawn>
}
