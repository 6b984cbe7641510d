import '../../fakes/unwatched.ts'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { use } from '../../../core/plugin.ts'
import { Tool } from '../../../core/ports/tool.ts'
import documentReader from '../../../plugins/readers/document.ts'
import getTextDocumentContent from '../../../plugins/tools/getTextDocumentContent.ts'
import { conform } from '../../contracts/contract.ts'
import { tool } from '../../contracts/tool.ts'
import { fitted } from '../../fitted.ts'

const made = () => fitted(use(documentReader), use(getTextDocumentContent)).supply({ tools: Tool }).tools[0]!
const file = (bytes: Uint8Array) => ({ id: 'file_1', name: 'harvest', mime: 'application/octet-stream', bytes })
const document = file(readFileSync('test/vectors/files/docx/harvest.docx'))
const params = { fileId: 'file_1' }

t.test('contract', (t) =>
  conform(t, tool.contract, () => ({
    tool: made(),
    good: { params, file: document },
    bad: { params, file: file(document.bytes.subarray(0, 5_000)) },
  })),
)

const run = (given = document) => {
  const it = made()
  if (it.kind !== 'reads-file') throw new Error('is a reader of files')
  return it.run(params, AbortSignal.timeout(20_000), given)
}

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
