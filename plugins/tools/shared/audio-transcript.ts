import type { Spoken, Transcript } from '../../../core/ports/upstream.ts'
import { inPairs } from './audio-pairs.ts'
import { cutAudio, type Piece } from './audio-pieces.ts'

/** What was said in one piece of a sound, in the time of the whole. */
export interface Part {
  readonly text: string
  readonly language: string | null
  /** At least one where there is a text; it spans the piece where the backend told no times. */
  readonly segments: readonly Spoken[]
  readonly words: readonly Spoken[]
  /** Whether the backend told any times. */
  readonly timed: boolean
}

export interface Written {
  readonly parts: readonly Part[]
  /** Seconds that were heard. */
  readonly duration: number
  /** The sound goes on, but nobody listened. */
  readonly truncated: boolean
}

export type Scribe = (audio: Piece['audio'], signal: AbortSignal) => Promise<Transcript>

/** Has a sound file written down, in pieces where it is large. Throws what reading throws and what the scribe throws. */
export const writeDown = async (bytes: Uint8Array, scribe: Scribe, signal: AbortSignal): Promise<Written> => {
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
    segments: (segments.length > 0 ? segments : [whole]).map(later).filter((it) => it.text !== ''),
    words: words.map(later).filter((it) => it.text !== ''),
    timed: segments.length + words.length > 0,
  }
}

/** The first of them, as many as that. */
export const firstOf = <T extends { readonly text: string }>(
  spoken: readonly T[],
  most: { readonly characters: number; readonly count: number },
): readonly T[] => {
  let characters = 0
  const end = spoken.findIndex(({ text }, at) => at >= most.count || (characters += text.length) > most.characters)
  return end < 0 ? spoken : spoken.slice(0, end)
}

const hundredths = (seconds: number): number => Math.round(seconds * 100) / 100
