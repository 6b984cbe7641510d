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
  full(): boolean
  finish(): WrittenDocument
}

export interface WrittenDocument {
  readonly title: string | null
  readonly sections: readonly DocumentSection[]
  readonly truncated: boolean
}

/** In characters of a document. */
export const mostText = 2_000_000

const longestHeading = 500

interface Frame {
  readonly lines: string[]
  readonly line: string[]
  mark: string
}

export const documentWriter = (most = mostText): DocumentWriter => {
  const sections: DocumentSection[] = []
  const frames: Frame[] = [frame()]
  const notes: string[] = []
  let heading: string | null = null
  let noted = 0
  let length = 0
  let title = ''
  let first = ''
  const top = () => frames.at(-1)!
  const taken = (): string => tidy(top().line.splice(0).join(''))
  const write = (line: string): void => {
    if (line === '') return
    top().lines.push(top().mark + line)
    top().mark = ''
  }
  const close = (next: string | null): void => {
    const text = [...frames[0]!.lines.splice(0), ...notes.splice(0)].join('\n')
    if (heading !== null || text !== '') sections.push({ heading, text })
    heading = next
  }
  const writing: DocumentWriter = {
    say(text) {
      const fits = text.slice(0, Math.max(0, most - length + 1))
      length += fits.length
      if (fits !== '') top().line.push(fits)
    },
    mark: (text) => void (top().mark = text),
    end: () => write(taken()),
    endHeading(level) {
      const line = taken()
      const said = (top().mark + line).replace(/\s+/g, ' ').trim()
      if (line === '' || frames.length > 1 || said.length > longestHeading) return write(line)
      top().mark = ''
      if (level === 1) first ||= line.replace(/\s+/g, ' ')
      close(said)
    },
    part: () => close(null),
    enter: () => void frames.push(frame()),
    leave() {
      writing.end()
      const text = frames.pop()!.lines.join('\n')
      length -= text.length
      return text
    },
    note(text) {
      notes.push(`[${++noted}] ${joinLines(text)}`)
      length += text.length
      return `[${noted}]`
    },
    title: (text) => void (title ||= text.replace(/\s+/g, ' ').trim().slice(0, longestHeading)),
    full: () => length > most,
    finish() {
      for (writing.end(); frames.length > 1; writing.end()) writing.say(writing.leave())
      close(null)
      const cut = cutSections(sections, most)
      return { title: title || first || null, sections: cut.sections, truncated: cut.truncated || length > most }
    },
  }
  return writing
}

const frame = (): Frame => ({ lines: [], line: [], mark: '' })

/** Removes surrounding line breaks, and blanks at the ends of lines. */
const tidy = (text: string): string => {
  const lines = text
    .replace(/[\x00-\x08\x0b-\x1f\x7f\xad\ufeff]/g, '')
    .split('\n')
    .map((line) => line.trimEnd())
  const said = (line: string) => line !== ''
  return lines.slice(Math.max(0, lines.findIndex(said)), lines.findLastIndex(said) + 1).join('\n')
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
