import { Unreadable } from '../../../core/errors.ts'
import type { Beside } from '../../../core/ports/file-content.ts'

/** Entries of one list, and characters of one text. */
const most = { entries: 1_000, characters: 2_000 }

type Lists = { -readonly [K in keyof Required<Beside>]: Required<Beside>[K][number][] }

/** Gathers what stands beside the text, within bounds. */
export const gatherBeside = () => {
  const lists: Lists = { links: [], images: [], charts: [], comments: [], headers: [], footers: [], hidden: [] }
  return {
    add<K extends keyof Lists>(list: K, entry: Lists[K][number]): void {
      if (lists[list].length < most.entries) (lists[list] as unknown[]).push(entry)
    },
    /** A part that can't be read leaves the text and the other parts readable. */
    attempt(read: () => void): void {
      try {
        read()
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error
      }
    },
    /** Lists that hold nothing are left out. */
    finish: (): Beside => Object.fromEntries(Object.entries(lists).filter(([, entries]) => entries.length > 0)),
  }
}

export type Gathering = ReturnType<typeof gatherBeside>

/** A text as one line, not longer than is kept. */
export const shortened = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, most.characters)
