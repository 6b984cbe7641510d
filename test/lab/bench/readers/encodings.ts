import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Document } from '../../../../core/ports/file-content.ts'
import { declarationIn } from './declarations.ts'
import { folder } from './documents.ts'
import { readByUs } from './ours.ts'
import { printed } from './program.ts'

/** Encodings by the name of iconv, each with the file of a language that is written in it and its label on the web. */
const encodings = [
  ['cp1256', 'arb', 'windows-1256'],
  ['iso-8859-6', 'arb', 'iso-8859-6'],
  ['iso-8859-2', 'ces', 'iso-8859-2'],
  ['cp1250', 'pol', 'windows-1250'],
  ['macintosh', 'deu_1996', 'macintosh'],
  ['cp1252', 'fra', 'windows-1252'],
  ['iso-8859-15', 'fra', 'iso-8859-15'],
  ['cp1253', 'ell_monotonic', 'windows-1253'],
  ['iso-8859-7', 'ell_monotonic', 'iso-8859-7'],
  ['cp1255', 'heb', 'windows-1255'],
  ['euc-jp', 'jpn', 'euc-jp'],
  ['shift_jis', 'jpn', 'shift_jis'],
  ['iso-2022-jp', 'jpn', 'iso-2022-jp'],
  ['euc-kr', 'kor', 'euc-kr'],
  ['gb18030', 'cmn_hans', 'gb18030'],
  ['big5', 'cmn_hant', 'big5'],
  ['cp1257', 'lit', 'windows-1257'],
  ['cp1251', 'rus', 'windows-1251'],
  ['cp866', 'rus', 'ibm866'],
  ['iso-8859-5', 'rus', 'iso-8859-5'],
  ['koi8-r', 'rus', 'koi8-r'],
  ['mac-cyrillic', 'rus', 'x-mac-cyrillic'],
  ['koi8-u', 'ukr', 'koi8-u'],
  ['cp874', 'tha', 'windows-874'],
  ['cp1254', 'tur', 'windows-1254'],
  ['cp1258', 'vie', 'windows-1258'],
  ['utf-16le', 'rus', 'utf-16le'],
  ['utf-16be', 'jpn', 'utf-16be'],
  ['utf-32le', 'deu_1996', null],
  ['utf-8', 'spa', 'utf-8'],
] as const

const wanted = 28

/** In characters, as a letter has them. */
const letter = 3_000

/** How many encodings are found without a word about them, and how many are taken as stated. */
export async function* byEncoding(): AsyncGenerator<string> {
  const right = { stated: 0, detected: 0, uchardet: 0 }
  for (const [encoding, language, label] of encodings) {
    const text = declarationIn(language).slice(0, letter)
    const bytes = execFileSync('iconv', ['-c', '-f', 'utf-8', '-t', encoding], { input: text })
    const expected = decoded(bytes, encoding)
    const read = await readText(bytes, '')
    const isRight = plain(read.text) === plain(expected)
    if (isRight) right.detected++
    else yield `${encoding} (${language}) is taken for ${read.encoding}`
    const stated = label === null ? read : await readText(bytes, `text/plain;charset=${label}`)
    if (plain(stated.text) === plain(expected)) right.stated++
    else yield `${encoding} (${language}), stated as ${label}, is read as ${stated.encoding}`
    if (plain(await byUchardet(bytes)) === plain(expected)) right.uchardet++
  }
  const verdict = right.detected < wanted ? '  BEHIND' : ''
  yield `detected ${right.detected} of ${encodings.length} (at least ${wanted}; uchardet ${right.uchardet}), stated ${right.stated}${verdict}`
}

const decoded = (bytes: Uint8Array, encoding: string): string =>
  execFileSync('iconv', ['-f', encoding, '-t', 'utf-8'], { input: bytes, stdio: 'pipe' }).toString()

const readText = async (bytes: Uint8Array, mime: string) => {
  const { content } = await readByUs('letter.txt', bytes, mime).catch(() => ({ content: null }))
  const document = content as Document | null
  return {
    text: document?.sections.map(({ text }) => text).join('\n') ?? '',
    encoding: document?.encoding?.name ?? 'nothing',
  }
}

const byUchardet = async (bytes: Uint8Array): Promise<string> => {
  const path = join(folder, 'letter.txt')
  writeFileSync(path, bytes)
  const name = (await printed('uchardet', [path]))?.trim()
  try {
    return name === undefined ? '' : decoded(bytes, name)
  } catch {
    // Not every name that it gives is one of iconv.
    return ''
  }
}

const plain = (text: string): string => text.normalize('NFC').replace(/\s+/g, ' ').trim()
