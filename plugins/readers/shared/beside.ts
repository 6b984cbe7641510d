import { Unreadable } from '../../../core/errors.ts'
import type { Beside } from '../../../core/ports/file-content.ts'

/** The largest number of entries in a list, and of characters in a text. */
const besideLimits = { entries: 1_000, characters: 2_000 }

/** The lists of `Beside`, all present while they are filled. */
type Lists = { -readonly [K in keyof Required<Beside>]: Required<Beside>[K][number][] }

/** Collects links, comments and other parts beside the text, within limits. */
export const gatherBeside = () => {
  const lists: Lists = {
    links: [],
    images: [],
    charts: [],
    comments: [],
    headers: [],
    footers: [],
    hidden: [],
    forms: [],
  }
  return {
    add<K extends keyof Lists>(list: K, entry: Lists[K][number]): void {
      if (lists[list].length < besideLimits.entries) (lists[list] as unknown[]).push(entry)
    },
    /** An unreadable part does not affect the text and the other parts. */
    attempt(read: () => void): void {
      try {
        read()
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error
      }
    },
    /** Empty lists are left out. */
    finish: (): Beside => Object.fromEntries(Object.entries(lists).filter(([, entries]) => entries.length > 0)),
  }
}

export type Gathering = ReturnType<typeof gatherBeside>

/** A text on one line, cut at the limit. */
export const shortened = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, besideLimits.characters)
