export interface TranscribeCall {
  readonly model: string
  readonly audio: { readonly name: string; readonly mime: string; readonly bytes: Uint8Array }
  /** Into English instead of the spoken language. */
  readonly translate?: boolean
  readonly language?: string
  readonly prompt?: string
  readonly temperature?: number
  readonly diarize?: boolean
  readonly smartFormat?: boolean
  readonly granularities?: readonly ('word' | 'segment')[]
}

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
}

export interface DrawCall {
  readonly model: string
  readonly prompt: string
  readonly count?: number
  readonly size?: string
  /** Fields of the common format that the gateway does not know. */
  readonly extra?: Readonly<Record<string, unknown>>
}

export interface Media {
  readonly mime: string
  readonly bytes: Uint8Array
}

/** The abilities to hear, speak and draw; each is absent where the backend lacks it. */
export interface MakesMedia {
  transcribe?(call: TranscribeCall, signal: AbortSignal): Promise<Transcript>
  speak?(call: SpeakCall, signal: AbortSignal): Promise<Media>
  draw?(call: DrawCall, signal: AbortSignal): Promise<readonly Media[]>
}
