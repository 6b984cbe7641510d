import type { DocumentSection } from '../../../core/ports/file-content.ts'
import { cutSections } from '../../shared/cut-sections.ts'

/** Collects paragraphs from the readers of all formats. Headings separate sections. */
export interface DocumentWriter {
  /** Adds text to the paragraph. */
  say(text: string): void
  /** Puts a mark before the next paragraph with text. */
  mark(text: string): void
  /** Ends the paragraph. */
  end(): void
  /** Ends the paragraph as the heading of a new section, of level 1 or deeper. */
  endHeading(level: number): void
  /** Begins a part outside all earlier headings. */
  part(): void
  /** Text between `enter` and `leave` stays out of the document; `leave` returns it. */
  enter(): void
  leave(): string
  /** Keeps a footnote until the section ends, and returns its reference. */
  note(text: string): string
  /** The first title counts. */
  title(text: string): void
  /** True when more text would be left out, so that a reader can stop. */
  full(): boolean
  /** Ends all open texts. Called once, at the end of the document. */
  finish(): WrittenDocument
}

/** What a reader of any format gives. */
export interface WrittenDocument {
  readonly title: string | null
  readonly sections: readonly DocumentSection[]
  readonly truncated: boolean
}

/** In characters of a document. */
export const mostText = 2_000_000

/** In characters: a longer heading counts as a paragraph, and a longer title is cut. */
const longestHeading = 500

/** A text in the making: finished lines, the pieces of the current line, and the mark in front of the next line. */
interface Frame {
  readonly lines: string[]
  readonly line: string[]
  mark: string
}

/** A document that is being written. */
interface Draft {
  readonly sections: DocumentSection[]
  /** The document, and the texts between `enter` and `leave`. */
  readonly frames: Frame[]
  readonly notes: string[]
  heading: string | null
  /** Notes so far. */
  noted: number
  /** In characters. */
  length: number
  title: string
  /** The first heading of level 1. */
  first: string
}

/** `most` in characters limits the text, with its headings and notes. */
export const documentWriter = (most = mostText): DocumentWriter => {
  const body = frame()
  const draft: Draft = {
    sections: [],
    frames: [body],
    notes: [],
    heading: null,
    noted: 0,
    length: 0,
    title: '',
    first: '',
  }
  const { frames, notes, sections } = draft
  const top = () => frames.at(-1) ?? body
  const writing: DocumentWriter = {
    say(text) {
      const fits = text.slice(0, Math.max(0, most - draft.length + 1))
      draft.length += fits.length
      if (fits !== '') top().line.push(fits)
    },
    mark: (text) => void (top().mark = text),
    end: () => write(top(), taken(top())),
    endHeading(level) {
      const line = taken(top())
      const words = flowing(top().mark + line).trim()
      if (line === '' || frames.length > 1 || words.length > longestHeading) return write(top(), line)
      top().mark = ''
      if (level === 1) draft.first ||= flowing(line)
      beginSection(draft, body, words)
    },
    part: () => beginSection(draft, body, null),
    enter: () => void frames.push(frame()),
    leave() {
      writing.end()
      const text = (frames.pop() ?? body).lines.join('\n')
      draft.length -= text.length
      return text
    },
    note(text) {
      notes.push(`[${++draft.noted}] ${joinLines(text)}`)
      draft.length += text.length
      return `[${draft.noted}]`
    },
    title: (text) => void (draft.title ||= flowing(text).trim().slice(0, longestHeading)),
    full: () => draft.length > most,
    finish() {
      for (writing.end(); frames.length > 1; writing.end()) writing.say(writing.leave())
      beginSection(draft, body, null)
      const cut = cutSections(sections, most)
      const title = draft.title || draft.first || null
      return { title, sections: cut.sections, truncated: cut.truncated || draft.length > most }
    },
  }
  return writing
}

const flowing = (text: string): string => text.replace(/\s+/g, ' ')

/** Takes the pieces of the current line, without its blanks and control characters. */
const taken = ({ line }: Frame): string => tidy(line.splice(0).join(''))

const write = (frame: Frame, line: string): void => {
  if (line === '') return
  frame.lines.push(frame.mark + line)
  frame.mark = ''
}

/** Ends the section, and begins one with this heading. */
const beginSection = (draft: Draft, body: Frame, next: string | null): void => {
  const text = [...body.lines.splice(0), ...draft.notes.splice(0)].join('\n')
  if (draft.heading !== null || text !== '') draft.sections.push({ heading: draft.heading, text })
  draft.heading = next
}

const frame = (): Frame => ({ lines: [], line: [], mark: '' })

/** Removes surrounding line breaks, and blanks at the ends of lines. */
const tidy = (text: string): string => {
  const lines = text
    .replace(/[\x00-\x08\x0b-\x1f\x7f\xad\ufeff]/g, '')
    .split('\n')
    .map((line) => line.trimEnd())
  const isFilled = (line: string) => line !== ''
  return lines.slice(Math.max(0, lines.findIndex(isFilled)), lines.findLastIndex(isFilled) + 1).join('\n')
}

/** Joins the lines of a text into one line. */
export const joinLines = (text: string): string =>
  text.includes('\n')
    ? text
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '')
        .join(' ')
    : text
