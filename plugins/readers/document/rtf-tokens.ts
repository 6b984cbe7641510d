import { Unreadable } from '../../../core/errors.ts'

/** What a file consists of. The number of a word is null where none is written. */
export type Token =
  | { readonly kind: 'open' }
  | { readonly kind: 'close' }
  | { readonly kind: 'word'; readonly word: string; readonly number: number | null }
  /** One character; a byte of any encoding is given as Latin-1. */
  | { readonly kind: 'byte'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }

/** Deeper groups are refused. */
const mostDepth = 500

/** The tokens of a file up to the end of its outermost group. Throws Unreadable when the group has no end. */
export const tokensOf = function* (bytes: Uint8Array): Generator<Token> {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const pattern = /[{}]|\\(?:'([0-9a-f]{2})|([a-z]{1,32})(-?\d{1,10})? ?|([^a-z]))|[\r\n]+|([^\\{}\r\n]{1,65536})/giy
  pattern.lastIndex = source.indexOf('{')
  for (let depth = 0; ;) {
    const found = pattern.exec(source)
    if (!found) {
      // LibreOffice leaves a group open behind the fields of a form.
      if (depth <= 2 && source.trimEnd().endsWith('}')) return
      throw new Unreadable()
    }
    const [all, hex, word, digits, symbol, text] = found
    if (text !== undefined) yield { kind: 'text', text }
    else if (hex !== undefined) yield { kind: 'byte', text: String.fromCharCode(parseInt(hex, 16)) }
    else if (word === 'bin') pattern.lastIndex += Math.max(0, Number(digits ?? 0))
    else if (word !== undefined) yield { kind: 'word', word, number: digits === undefined ? null : Number(digits) }
    else if (symbol !== undefined) yield symbols[symbol] ?? { kind: 'word', word: symbol, number: null }
    else if (all === '{') {
      if (++depth > mostDepth) throw new Unreadable()
      yield { kind: 'open' }
    } else if (all === '}') {
      yield { kind: 'close' }
      if (--depth === 0) return
    }
  }
}

/** Control words of one character. */
const symbols: Readonly<Record<string, Token>> = {
  '\\': { kind: 'byte', text: '\\' },
  '{': { kind: 'byte', text: '{' },
  '}': { kind: 'byte', text: '}' },
  '~': { kind: 'byte', text: ' ' },
  _: { kind: 'byte', text: '-' },
  '\n': { kind: 'word', word: 'par', number: null },
  '\r': { kind: 'word', word: 'par', number: null },
}
