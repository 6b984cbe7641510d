import type { Spoken } from '../../../core/ports/upstream.ts'
import { timelineOf, wordsDuring } from '../../shared/sounds/timeline.ts'
import type { Part } from './audio-transcript.ts'
import type { Turn } from './speakers-turns.ts'

export interface SpeakerTurn {
  /** From 1, in the order of the first words. */
  readonly speaker: number
  /** In seconds. */
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The speaker of a part; null when the speaker is unknown. */
export type Attribution = (spoken: Spoken, part: Part) => number | null

/** The spoken turns. A segment with several speakers is split between its words. */
export const speakerTurns = (parts: readonly Part[], speakerOf: Attribution): readonly SpeakerTurn[] => {
  const order: number[] = []
  const turns: { readonly speaker: number; readonly start: number; end: number; text: string }[] = []
  for (const { text, start, end, by } of parts.flatMap((part) => attributed(part, speakerOf))) {
    if (by !== null && !order.includes(by)) order.push(by)
    const last = turns.at(-1)
    const speaker = by === null ? (last?.speaker ?? 1) : order.indexOf(by) + 1
    if (last?.speaker === speaker) {
      last.end = Math.max(last.end, end)
      last.text += ` ${text}`
    } else turns.push({ speaker, start, end, text })
  }
  return turns
}

/** A segment or a word with its speaker; null when nobody can tell. */
interface Attributed extends Spoken {
  readonly by: number | null
}

/** A word belongs to the segment in which its middle lies. */
const attributed = (part: Part, speakerOf: Attribution): readonly Attributed[] => {
  const during = wordsDuring(part.words)
  return part.segments.flatMap((segment) => {
    const inside = during(segment)
    const speakers = inside.map((word) => speakerOf(word, part))
    const [by = speakerOf(segment, part)] = speakers
    if (speakers.every((speaker) => speaker === by)) return [{ ...segment, by }]
    // Words often lack the punctuation that the segment has.
    const written = segment.text.split(/\s+/)
    const texts = written.length === inside.length ? written : inside.map(({ text }) => text)
    return inside.map((word, at) => ({ ...word, text: texts[at] ?? word.text, by: speakers[at] ?? null }))
  })
}

/** False for a backend that told only words: voices then tell the speakers apart. */
export const tellsSpeakers = ({ segments, words }: Part): boolean =>
  [...segments, ...words].some(({ speaker }) => speaker !== undefined)

/** Uses the backend's speakers. The backend numbers them anew in each part, so `turns` match them across parts. */
export const attributeByBackend = (parts: readonly Part[], turns: readonly Turn[]): Attribution => {
  if (parts.length === 1) return ({ speaker }) => speaker ?? null
  const known = new Map(parts.map((part, index) => [part, identified(part, turns, (index + 1) * strangers)]))
  return ({ speaker }, part) => (speaker === undefined ? null : (known.get(part)?.get(speaker) ?? null))
}

/** Numbers from here on are speakers of one part that the voices do not separate. */
const strangers = 1_000

/** Uses the voice heard at that time; the nearest turn when no voice was heard. */
export const attributeByVoice = (turns: readonly Turn[]): Attribution => {
  const { nearest } = timelineOf(turns)
  return (spoken) => nearest(spoken)?.speaker ?? null
}

/** Matches each speaker of the part to the speaker with the longest common time. Each match is used once. */
const identified = (part: Part, turns: readonly Turn[], strangers: number): ReadonlyMap<number, number> => {
  const { common } = timelineOf(turns)
  const times = new Map<number, Map<number, number>>()
  for (const one of [...part.words, ...part.segments]) {
    if (one.speaker === undefined) continue
    const ours = times.get(one.speaker) ?? new Map<number, number>()
    times.set(one.speaker, ours)
    for (const [{ speaker }, seconds] of common(one)) ours.set(speaker, (ours.get(speaker) ?? 0) + seconds)
  }
  const pairs = [...times].flatMap(([theirVoice, ours]) =>
    Array.from(ours, ([speaker, seconds]) => ({ theirVoice, ours: speaker, seconds })),
  )
  const found = new Map<number, number>()
  const taken = new Set<number>()
  for (const { theirVoice, ours } of pairs.toSorted((one, other) => other.seconds - one.seconds)) {
    if (found.has(theirVoice) || taken.has(ours)) continue
    found.set(theirVoice, ours)
    taken.add(ours)
  }
  for (const voice of times.keys()) if (!found.has(voice)) found.set(voice, strangers + voice)
  return found
}
