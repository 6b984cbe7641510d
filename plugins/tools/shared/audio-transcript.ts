import type { Spoken, Transcript } from '../../../core/ports/upstream.ts'
import { inPairs } from './audio-pairs.ts'
import { cutAudio, type Piece } from './audio-pieces.ts'

/** The words of one piece of a sound, in times of the whole sound. */
export interface Part {
  readonly text: string
  readonly language: string | null
  /** At least one segment when there is text. It spans the piece when the backend gave no times. */
  readonly segments: readonly Spoken[]
  readonly words: readonly Spoken[]
  /** True when the backend gave times. */
  readonly timed: boolean
}

/** All parts in order, whichever was transcribed first. */
export interface WrittenTranscript {
  readonly parts: readonly Part[]
  /** In seconds of transcribed sound. */
  readonly duration: number
  /** True when the sound continues after the transcribed part. */
  readonly truncated: boolean
}

/** Times in its answer count from the begin of the piece, in seconds. */
export type TranscribePiece = (audio: Piece['audio'], signal: AbortSignal) => Promise<Transcript>

/** Transcribes a sound file, in pieces when it is long. Throws the errors of the reading and of the scribe. */
export const transcribeSound = async (
  bytes: Uint8Array,
  scribe: TranscribePiece,
  signal: AbortSignal,
): Promise<WrittenTranscript> => {
  const cut = cutAudio(bytes)
  const parts = await inPairs(
    cut.pieces,
    async (piece, signal) => partOf(await scribe(piece.audio, signal), piece),
    signal,
  )
  return { parts, duration: hundredths(cut.seconds), truncated: cut.truncated }
}

const partOf = ({ text, language, segments, words }: Transcript, { start, seconds }: Piece): Part => {
  const later = (spoken: Spoken): Spoken => ({
    ...spoken,
    text: spoken.text.trim(),
    start: hundredths(spoken.start + start),
    end: hundredths(spoken.end + start),
  })
  const whole = { text, start: words[0]?.start ?? 0, end: words.at(-1)?.end ?? seconds }
  return {
    text: text.trim(),
    language,
    segments: (segments.length > 0 ? segments : [whole]).map(later).filter((spoken) => spoken.text !== ''),
    words: words.map(later).filter((spoken) => spoken.text !== ''),
    timed: segments.length + words.length > 0,
  }
}

/** The first items, up to the limits. */
export const firstItems = <T extends { readonly text: string }>(
  spoken: readonly T[],
  most: { readonly characters: number; readonly count: number },
): readonly T[] => {
  let characters = 0
  const end = spoken.findIndex(({ text }, at) => at >= most.count || (characters += text.length) > most.characters)
  return end < 0 ? spoken : spoken.slice(0, end)
}

/** Models tell times no more exactly. */
const hundredths = (seconds: number): number => Math.round(seconds * 100) / 100
