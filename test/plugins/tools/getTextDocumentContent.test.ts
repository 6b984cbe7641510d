import '../../fakes/unwatched.ts'
import t from 'tap'
import { BadRequest } from '../../../core/errors.ts'
import documentReader from '../../../plugins/readers/document.ts'
import getTextDocumentContent from '../../../plugins/tools/getTextDocumentContent.ts'
import { conform } from '../../contracts/contract.ts'
import { tool } from '../../contracts/tool.ts'
import { bytesOf, madeOf, opened, params, toolOf } from './tried.ts'

const made = () => toolOf(documentReader, getTextDocumentContent)
const file = (bytes: Uint8Array) => opened(bytes, 'harvest')
const document = file(await bytesOf('docx/harvest.docx'))

t.test('contract', (t) =>
  conform(t, tool.contract, () => ({
    tool: made(),
    good: { params, file: document },
    bad: { params, file: file(document.bytes.subarray(0, 5_000)) },
  })),
)

const run = (given = document, more = {}) => madeOf(made(), given, more)

t.test('gives a document in its sections', async (t) => {
  const found = (await run()) as { characters: number; words: number; sections: { heading: string; text: string }[] }
  t.match(found, { format: 'docx', title: 'Bericht über Äpfel', truncated: false }, 'about it')
  t.match(
    found.sections,
    [
      {
        heading: 'Ernte und Lager',
        text: /^Die Ernte war größer als im Vorjahr\[1\], sagt der Verband\.\n\[1\] Gezählt/,
      },
      { heading: 'Sorten', text: /^- Boskoop\n/ },
      { heading: 'Mengen', text: /^Sorte \| Tonnen \| Preis \(€\)\n/ },
    ],
    'sections',
  )
  const all = found.sections.map(({ heading, text }) => heading + text).join('')
  t.equal(found.characters, all.length, 'characters')
  const words = found.sections.flatMap(({ heading, text }) => `${heading} ${text}`.split(/[\s|]+/))
  t.equal(found.words, words.length, 'words')
})

t.test('gives the beginning of a long one, and says so', async (t) => {
  const long = file(Buffer.from(`# A\n\n${'Wort '.repeat(60_000)}\n# B\n\n${'Wort '.repeat(60_000)}`))
  const found = (await run({ ...long, name: 'long.md' })) as { sections: { heading: string; text: string }[] }
  t.match(found, { format: 'md', characters: 600_000, words: 120_002, truncated: true }, 'counts all of it')
  t.same(
    found.sections.map(({ heading, text }) => [heading, text.length]),
    [
      ['A', 299_999],
      ['B', 99_999],
    ],
    'gives a part of it',
  )
})

t.test('an outline tells what there is, and numbers choose of it', async (t) => {
  const lines = (sign: string, count: number) => `${`${sign.repeat(99)}\n`.repeat(count)}`
  const long = { ...file(Buffer.from(`# A\n\nshort\n\n# B\n\n${lines('b', 5_000)}\n# C\n\nend\n`)), name: 'long.md' }
  type Found = { sections: { number?: number; heading: string; text: string }[]; outline?: any[]; truncated: boolean }
  const { outline, ...all } = (await run(long)) as Found
  t.equal(all.truncated, true)
  t.same(outline?.[0], { number: 1, heading: 'A', characters: 5 })
  t.same(outline?.[1], { number: 2, heading: 'B', characters: 40_000 }, 'a long section counts as several')
  t.same(outline?.at(-1), { number: 15, heading: 'C', characters: 3 })
  const last = (await run(long, { from: 14 })) as Found
  t.same(
    last.sections.map(({ number, heading, text }) => [number, heading, text.slice(-4)]),
    [
      [14, 'B', 'bbbb'],
      [15, 'C', 'end'],
    ],
  )
  t.same([last.truncated, 'outline' in last], [false, false])
  const parts = (await run(long, { from: 2, to: 14 })) as Found
  const rest = (await run(long, { from: parts.sections.length + 1 })) as Found
  t.equal(parts.truncated, true, 'a stretch that is too long is cut')
  const text = [...parts.sections.slice(0, -1), ...rest.sections.slice(0, -1)].map((section) => section.text).join('')
  t.equal(text, lines('b', 5_000).trim(), 'a reader that goes on misses nothing')
  t.same(((await run(long, { from: 100 })) as Found).sections, [])
  await t.rejects(run(long, { from: 3, to: 2 }), BadRequest)
})
