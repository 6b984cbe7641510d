import type { Pace } from '../../../core/dialects/loop-time.ts'
import { piecesOf } from '../../shared/guards/texts.ts'

/** A part of a text and what takes its place. */
export interface Span {
  readonly from: number
  /** Behind the last character. */
  readonly to: number
  /** Called only when the part goes on. */
  by(): string
}

/** What a guard looks for. The text may begin with a character that already went on. */
export interface Search {
  /** The place from which on later characters may still change what is found. */
  undecided(text: string): number
  /** Spans that begin at `start` or later, in their order, none over another. */
  find(text: string, start: number): readonly Span[]
}

/** A text that arrives in pieces. The results of all calls, joined, are the text after its replacements. */
export interface Pieces {
  /** Gives what is decided, which may be nothing. */
  take(piece: string): string
  /** Gives the rest. */
  end(): string
}

/** The matches that begin at `start` or later, each looked for when it is taken. Lookbehinds see what is in front. */
export const matchesFrom = (pattern: RegExp, text: string, start: number): IterableIterator<RegExpExecArray> => {
  pattern.lastIndex = start
  const all = text.matchAll(pattern)
  pattern.lastIndex = 0
  return all
}

/** Characters that are held back and still looked at with each piece. */
const shortHeld = 1024
/** By this factor a longer text grows between two looks: a look at each piece would cost its whole length. */
const growth = 17 / 16

/** Replaces what a search finds, also when it is cut across pieces. Only the undecided end of a text is held back. */
export const piecewise = ({ undecided, find }: Search): Pieces => {
  /** The last character that went on, for the edge of a word, and behind it what is held back. */
  let text = ''
  let start = 0
  /** The length at which the text is looked at again. */
  let awaited = 0

  const upTo = (open: number): string => {
    let words = ''
    let at = start
    for (const { from, to, by } of find(text, start)) {
      // A span that begins in front of the undecided end is decided, even when it reaches into that end.
      if (from >= open) break
      words += text.slice(at, from) + by()
      at = to
    }
    const end = Math.max(at, open)
    words += text.slice(at, end)
    const kept = Math.max(0, end - 1)
    text = text.slice(kept)
    start = end - kept
    return words
  }

  return {
    take(piece) {
      text += piece
      if (text.length < awaited) return ''
      const words = upTo(undecided(text))
      awaited = text.length > shortHeld ? growth * text.length : 0
      return words
    },
    end: () => upTo(text.length),
  }
}

/** Characters that are searched at once: about as many as one turn of the loop has time for. */
const atOnce = 16 * 1024
/** Nanoseconds that the search takes for a character, and for a text of any length. */
const [characterNs, textNs] = [60, 10_000]

/** The same for a whole text; the pace is that of all texts of a request, which may be many. */
export const wholly = async (search: Search, text: string, pace: Pace, signal: AbortSignal): Promise<string> => {
  const pieces = piecewise(search)
  let next = ''
  let cost = textNs
  for (const piece of piecesOf(text, atOnce)) {
    next += pieces.take(piece)
    const turn = pace.spend(cost + characterNs * piece.length)
    cost = 0
    if (turn === null) continue
    await turn
    signal.throwIfAborted()
  }
  return next + pieces.end()
}
