import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { declarationIn } from './declarations.ts'
import { folder } from './documents.ts'
import { printed } from './program.ts'

export interface Written {
  readonly name: string
  readonly language: string
  /** A family of fonts that Debian packages bring. */
  readonly font: string
  readonly lines: readonly string[]
}

const harbour: readonly Omit<Written, 'name'>[] = [
  {
    language: 'eng',
    font: 'DejaVu Serif',
    lines: [
      'The harbour master counts the boats each evening,',
      'and writes down how many came with the tide.',
      'In March there were forty, in April fifty-two,',
      'and the quay was mended twice before summer.',
      'Whoever arrives late pays three shillings more',
    ],
  },
  {
    language: 'deu',
    font: 'Liberation Serif',
    lines: [
      'Die Hafenmeisterin zählt jeden Abend die Boote',
      'und schreibt auf, wie viele mit der Flut kamen.',
      'Im März waren es vierzig, im April größere,',
      'über die süße Brühe spricht man später.',
    ],
  },
  {
    language: 'fra',
    font: 'Liberation Sans',
    lines: [
      'La capitaine du port compte les bateaux chaque soir',
      'et note combien sont arrivés avec la marée.',
      'En mars ils étaient quarante, où qu’ils fussent nés,',
      'et le quai a été réparé deux fois avant l’été.',
    ],
  },
  {
    language: 'ukr',
    font: 'DejaVu Sans',
    lines: [
      'Доглядач гавані рахує човни щовечора',
      'і записує, скільки прийшло з припливом.',
      'У березні їх було сорок, у квітні більше,',
      'а причал лагодили двічі до початку літа.',
    ],
  },
  {
    language: 'jpn',
    font: 'IPAexGothic',
    lines: [
      '港の管理人は毎晩、船の数を数えて、',
      '潮とともに何隻来たかを帳面に書く。',
      '三月は四十隻、四月は五十二隻だった。',
      '夏になる前に、岸壁は二度修理された。',
    ],
  },
  {
    language: 'ara',
    font: 'DejaVu Sans',
    lines: [
      'يعد حارس الميناء القوارب كل مساء',
      'ويكتب كم منها وصل مع المد',
      'في مارس كانت أربعين وفي أبريل أكثر',
      'وقد أصلح الرصيف مرتين قبل الصيف',
    ],
  },
]

/** Pages of texts that nobody of this house wrote, in other fonts than the first ones. No change was made by looking at them. */
const declared = [
  ['eng', 'eng', 'Liberation Serif'],
  ['deu', 'deu_1996', 'DejaVu Sans'],
  ['fra', 'fra', 'DejaVu Serif'],
  ['ukr', 'ukr', 'Liberation Serif'],
  ['jpn', 'jpn', 'IPAexMincho'],
  ['ara', 'arb', 'Noto Naskh Arabic'],
] as const

/** In characters: a paragraph is longer than a heading, a line has so many, and a page so many lines. */
const paragraph = 30
const widths = { words: 48, signs: 20 }
const pageLines = 5

/** The first lines of the articles. */
const linesOf = (text: string, isWithoutSpaces: boolean): readonly string[] => {
  const whole = text
    .split('\n')
    .filter(({ length }) => length > paragraph)
    .join(isWithoutSpaces ? '' : ' ')
  const line = isWithoutSpaces
    ? new RegExp(`.{1,${widths.signs}}`, 'gu')
    : new RegExp(`\\S.{0,${widths.words}}(?= )`, 'gu')
  return (whole.match(line) ?? []).slice(0, pageLines)
}

/** Two texts for each language. */
export const written = (): readonly Written[] => [
  ...harbour.map((picture) => ({ name: 'harbour', ...picture })),
  ...declared.map(([language, declaration, font]) => ({
    ...{ name: 'declaration', language, font },
    lines: linesOf(declarationIn(declaration), language === 'jpn'),
  })),
]

export interface Look {
  /** In pixels of a letter’s box. */
  readonly size: number
  /** Standard deviation of the greys, of 255. */
  readonly noise: number
  /** In degrees, against the clock. */
  readonly turn: number
}

const usual: Look = { size: 28, noise: 0, turn: 0 }
export const looks: readonly Look[] = [
  usual,
  ...[14, 20, 60].map((size) => ({ ...usual, size })),
  ...[20, 40, 60].map((noise) => ({ ...usual, noise })),
  ...[2, 5, 90, 180, 270].map((turn) => ({ ...usual, turn })),
  { size: 14, noise: 20, turn: 0 },
]

export const place = join(folder, 'ocr')
export const path = join(place, 'page.png')

/** The page as Pango draws it, spoiled afterwards; null where the font is not installed. */
export const drawn = async ({ font, lines }: Written, { size, noise, turn }: Look): Promise<Uint8Array | null> => {
  mkdirSync(place, { recursive: true })
  const found = await printed('fc-match', ['-f', '%{family}', font])
  if (found?.split(',').includes(font) !== true) return null
  const how = [`--font=${font} ${size}px`, `--margin=${2 * size}`, `--output=${path}`, '--line-spacing=1.5']
  await ran('pango-view', ['--no-display', ...how, `--text=${lines.join('\n')}`])
  await ran('/usr/bin/python3', [join(process.cwd(), 'test/lab/bench/readers/page.py'), path, `${noise}`, `${turn}`])
  return readFileSync(path)
}

/** Runs a program that prints nothing. Throws where it fails. */
const ran = (program: string, given: readonly string[]): Promise<void> =>
  new Promise((done, fail) => {
    execFile(program, [...given], { timeout: 60_000 }, (error) => (error === null ? done() : fail(error)))
  })
