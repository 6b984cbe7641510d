import type { Spoken } from '../../../core/ports/upstream.ts'
import type { Part } from './audio-transcript.ts'
import type { Turn } from './speakers-turns.ts'

export interface Said {
  /** From 1, in the order in which they are first heard. */
  readonly speaker: number
  /** Seconds. */
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Who said this; null when nobody knows. */
export type Attribution = (spoken: Spoken, part: Part) => number | null

/** What was said, as turns. A segment in which the speaker changes is parted between its words. */
export const saidBy = (parts: readonly Part[], speakerOf: Attribution): readonly Said[] => {
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

interface Attributed extends Spoken {
  readonly by: number | null
}

const attributed = (part: Part, speakerOf: Attribution): readonly Attributed[] =>
  part.segments.flatMap((segment) => {
    const inside = part.words.filter(({ start, end }) => {
      const middle = (start + end) / 2
      return middle >= segment.start && middle < segment.end
    })
    const speakers = inside.map((word) => speakerOf(word, part))
    const [by = speakerOf(segment, part)] = speakers
    if (speakers.every((it) => it === by)) return [{ ...segment, by }]
    // Words often come without their punctuation, which the segment has.
    const written = segment.text.split(/\s+/)
    const texts = written.length === inside.length ? written : inside.map(({ text }) => text)
    return inside.map((word, at) => ({ ...word, text: texts[at] ?? word.text, by: speakers[at] ?? null }))
  })

export const tellsSpeakers = ({ segments, words }: Part): boolean =>
  [...segments, ...words].some(({ speaker }) => speaker !== undefined)

/** By the backend, which counts its speakers anew in each part: where there are several, `turns` tell who is who. */
export const byBackend = (parts: readonly Part[], turns: readonly Turn[]): Attribution => {
  if (parts.length === 1) return ({ speaker }) => speaker ?? null
  const known = new Map(parts.map((part, index) => [part, identified(part, turns, (index + 1) * strangers)]))
  return ({ speaker }, part) => (speaker === undefined ? null : (known.get(part)?.get(speaker) ?? null))
}

/** Numbers from here on are speakers of one part whom our ears have not told apart. */
const strangers = 1_000

/** By what was heard at that time; the nearest turn where nobody was heard. */
export const byEar =
  (turns: readonly Turn[]): Attribution =>
  (spoken) => {
    let found: Turn | null = null
    let most = -Infinity
    for (const turn of turns) {
      const its = shared(spoken, turn)
      if (its > most) [found, most] = [turn, its]
    }
    return found?.speaker ?? null
  }

/** Seconds in both; where there are none, the seconds between them, negative. */
const shared = (one: Pick<Turn, 'start' | 'end'>, other: Pick<Turn, 'start' | 'end'>): number =>
  Math.min(one.end, other.end) - Math.max(one.start, other.start)

/** For each speaker of the part whom of all it is: whose turns it shares the most time with, each given away once. */
const identified = (part: Part, turns: readonly Turn[], strangers: number): ReadonlyMap<number, number> => {
  const spoken = [...part.words, ...part.segments]
  const theirs = [...new Set(spoken.flatMap(({ speaker }) => (speaker === undefined ? [] : [speaker])))]
  const pairs = theirs.flatMap((its) => {
    const said = spoken.filter(({ speaker }) => speaker === its)
    return [...new Set(turns.map(({ speaker }) => speaker))].map((ours) => {
      const heard = turns.filter(({ speaker }) => speaker === ours)
      return { its, ours, seconds: sum(said.flatMap((one) => heard.map((other) => Math.max(0, shared(one, other))))) }
    })
  })
  const found = new Map<number, number>()
  const taken = new Set<number>()
  for (const { its, ours, seconds } of pairs.toSorted((one, other) => other.seconds - one.seconds)) {
    if (seconds === 0 || found.has(its) || taken.has(ours)) continue
    found.set(its, ours)
    taken.add(ours)
  }
  for (const its of theirs) if (!found.has(its)) found.set(its, strangers + its)
  return found
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, it) => all + it, 0)
