import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { folder } from './documents.ts'
import { converted } from './office.ts'
import { readByUs } from './ours.ts'
import { printed } from './program.ts'

const sources = 'test/lab/bench/readers/rich'

/** A part beside the text, the list in which it should stand, and its words. */
const parts = {
  link: ['links', 'https://example.org/pears'],
  'link text': ['links', 'about pears'],
  description: ['images', 'A pear tree in spring'],
  comment: ['comments', 'Check the number'],
  author: ['comments', 'Ada'],
  header: ['headers', 'Orchard report'],
  footer: ['footers', 'Not for print'],
  hidden: ['hidden', 'unseen words'],
  chart: ['charts', 'Pears a month'],
  series: ['charts', 'Pears'],
} as const
type Part = keyof typeof parts

const text = ['link', 'link text', 'description', 'comment', 'author', 'header', 'footer', 'hidden'] as const
const slides = ['link', 'description', 'comment', 'author'] as const
const sheets = ['link', 'comment', 'author', 'chart', 'series', 'header', 'footer'] as const

/** Files by the program that makes them, with the parts that the program writes into them. */
const files: readonly {
  readonly maker: string
  readonly make: () => Promise<string | null>
  readonly has: readonly Part[]
}[] = [
  { maker: 'LibreOffice odt', make: () => office('text.fodt', 'odt'), has: text },
  { maker: 'LibreOffice docx', make: () => office('text.fodt', 'docx'), has: text },
  {
    maker: 'LibreOffice rtf',
    make: () => office('text.fodt', 'rtf'),
    has: ['link', 'link text', 'comment', 'author', 'header', 'footer', 'hidden'],
  },
  {
    maker: 'LibreOffice doc',
    make: () => office('text.fodt', 'doc'),
    has: ['link', 'link text', 'comment', 'author', 'header', 'hidden'],
  },
  { maker: 'LibreOffice html', make: () => office('text.fodt', 'html'), has: ['link', 'link text'] },
  { maker: 'LibreOffice pdf', make: () => office('text.fodt', 'pdf'), has: ['link', 'link text'] },
  {
    maker: 'python-docx docx',
    make: byPython('text.py', 'docx'),
    has: ['link', 'link text', 'description', 'header', 'footer', 'hidden'],
  },
  { maker: 'openpyxl xlsx', make: byPython('sheets.py', 'xlsx'), has: sheets },
  {
    maker: 'LibreOffice ods',
    make: async () => office((await byPython('sheets.py', 'xlsx')())!, 'ods'),
    has: ['link', 'comment', 'chart', 'series', 'header', 'footer'],
  },
  { maker: 'LibreOffice odp', make: () => office('slides.fodp', 'odp'), has: slides },
  { maker: 'LibreOffice pptx', make: () => office('slides.fodp', 'pptx'), has: slides },
  { maker: 'LibreOffice ppt', make: () => office('slides.fodp', 'ppt'), has: ['link'] },
]

/** Which parts beside the text are found in files that other programs make. */
export async function* byRichFile(): AsyncGenerator<string> {
  let [found, all] = [0, 0]
  for (const { maker, make, has } of files) {
    const path = await make()
    if (path === null) {
      yield `${maker} could not be made`
      continue
    }
    const content = (await readByUs(basename(path), readFileSync(path))).content as unknown as Lists
    const missing = has.filter((part) => !JSON.stringify(content[parts[part][0]] ?? []).includes(parts[part][1]))
    found += has.length - missing.length
    all += has.length
    yield `${maker}: ${has.length - missing.length} of ${has.length}${missing.length > 0 ? `, without ${missing.join(', ')}` : ''}`
  }
  yield `${found} of ${all} parts${found < all ? '  BEHIND' : ''}`
}

type Lists = Readonly<Record<string, unknown>>

const office = async (source: string, format: string): Promise<string | null> => {
  const path = source.includes('/') ? source : join(sources, source)
  const made = await converted([{ name: `rich${extname(path)}`, bytes: readFileSync(path) }], format)
  try {
    return made.files[0] === undefined ? null : kept(`office.${format}`, readFileSync(made.files[0]))
  } finally {
    made.remove()
  }
}

const picture = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

function byPython(script: string, format: string): () => Promise<string | null> {
  return async () => {
    const path = kept(`python.${format}`, new Uint8Array(0))
    const image = kept('tree.png', Buffer.from(picture, 'base64'))
    await printed('/usr/bin/python3', [join(process.cwd(), sources, script), path, image])
    return readFileSync(path).length === 0 ? null : path
  }
}

const kept = (name: string, bytes: Uint8Array): string => {
  const place = join(folder, 'rich')
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, name), bytes)
  return join(place, name)
}
