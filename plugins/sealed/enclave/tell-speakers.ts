import { Unconfigured, Unreadable } from '../../../core/errors.ts'
import type { Tool } from '../../../core/ports/tool.ts'
import { timelineOf, wordsDuring } from '../../shared/sounds/timeline.ts'
import type { MediaFile, Spoken, Transcript } from '../../../core/ports/upstream.ts'

/** Adds speakers to a transcript. Null when the enclave cannot read the sound. */
export type TellSpeakers = (transcript: Transcript, file: MediaFile, signal: AbortSignal) => Promise<Transcript | null>

/** A stretch in which one speaker is heard, in seconds. */
interface Turn {
  readonly speaker: number
  readonly start: number
  readonly end: number
}

/** Uses the diarization tool; null when the enclave has none. */
export const speakersBy = (tools: readonly Tool[]): TellSpeakers | null => {
  const tool = tools.find(({ name }) => name === 'audioDiarization')
  if (tool?.kind !== 'reads-file') return null
  return async (transcript, file, signal) => {
    try {
      const turns = turnsOf(await tool.run({ fileId: 'sealed' }, signal, { id: 'sealed', ...file }))
      return turns.length === 0 ? null : attributed(transcript, turns)
    } catch (error) {
      if (error instanceof Unreadable || error instanceof Unconfigured) return null
      throw error
    }
  }
}

/** Numbers the speakers from 0 in the order in which they are first heard. */
const turnsOf = (result: unknown): readonly Turn[] => {
  const { segments } = result as {
    readonly segments: readonly (Omit<Turn, 'speaker'> & { readonly speaker: string })[]
  }
  const names = [...new Set(segments.map(({ speaker }) => speaker))]
  return segments.map((turn) => ({ ...turn, speaker: names.indexOf(turn.speaker) }))
}

/** Each word gets the speaker who is heard at its time. A segment with several speakers is split between words. */
const attributed = (transcript: Transcript, turns: readonly Turn[]): Transcript => {
  const { nearest } = timelineOf(turns)
  const by = (spoken: Spoken) => nearest(spoken)?.speaker ?? 0
  const words = transcript.words.map((word) => ({ ...word, speaker: by(word) }))
  const during = wordsDuring(words)
  const segments = transcript.segments.flatMap((segment) => {
    const inside = during(segment)
    const [first] = inside
    if (inside.every(({ speaker }) => speaker === first?.speaker))
      return [{ ...segment, speaker: first?.speaker ?? by(segment) }]
    return runs(inside)
  })
  return { ...transcript, segments, words }
}

type Told = Spoken & { readonly speaker: number }

/** Joins neighbouring words of one speaker. */
const runs = (words: readonly Told[]): readonly Told[] => {
  const found: Told[][] = []
  for (const word of words) {
    const last = found.at(-1)
    if (last?.[0]?.speaker === word.speaker) last.push(word)
    else found.push([word])
  }
  return found.map((run) => {
    const [first, last] = [run[0]!, run.at(-1)!]
    return run.length === 1 ? first : { ...first, end: last.end, text: run.map(({ text }) => text.trim()).join(' ') }
  })
}
