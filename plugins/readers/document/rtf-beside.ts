import type { Beside } from '../../../core/ports/file-content.ts'
import { gatherBeside, shortened } from '../shared/beside.ts'

/** Destinations whose text stands beside the text of the document. */
export type Aside = 'header' | 'footer' | 'comment' | 'author' | 'instruction'

/** True when the text of a destination stands beside the document. */
export const isAside = (destination: string): destination is Aside =>
  ['header', 'footer', 'comment', 'author', 'instruction'].includes(destination)

/** A field shows its result; its instruction may be a link. */
export interface Field {
  instruction: string
  result: string
}

/** In characters: an instruction or a header is shorter. */
const most = 4_000

/** Collects what stands beside the text of an RTF file. */
export const rtfBeside = () => {
  const gathering = gatherBeside()
  let author: string | null = null
  let words = ''
  let hidden = ''
  const endHidden = () => {
    if (hidden.trim() !== '') gathering.add('hidden', shortened(hidden))
    hidden = ''
  }
  return {
    say(destination: Aside, text: string, field: Field | null) {
      if (destination !== 'instruction') words += text.slice(0, most - words.length)
      else if (field) field.instruction += text.slice(0, most - field.instruction.length)
    },
    show(text: string, isHidden: boolean, field: Field | null) {
      if (field) field.result += text.slice(0, most - field.result.length)
      if (isHidden) hidden += text
      else endHidden()
    },
    leave(destination: Aside) {
      const text = shortened(words)
      if (destination === 'instruction') return
      words = ''
      if (destination === 'author') author = text || null
      else if (text === '') return
      else if (destination === 'comment') gathering.add('comments', { author, text, at: null })
      else gathering.add(destination === 'header' ? 'headers' : 'footers', text)
    },
    leaveField({ instruction, result }: Field) {
      const url = /^\s*HYPERLINK\s+"([^"]+)"/i.exec(instruction)?.[1]
      if (url) gathering.add('links', { url: url.slice(0, 2_000), text: shortened(result), at: null })
    },
    finish(): Beside {
      endHidden()
      return gathering.finish()
    },
  }
}
