import type { Beside } from '../../../core/ports/file-content.ts'
import { unzip } from '../../shared/zip.ts'
import { type Gathering, gatherBeside, shortened } from './beside.ts'
import { scanXml } from './markup.ts'

/**
 * The parts of an OpenDocument file beside its text: links, alternative texts, comments, headers, footers, hidden text,
 * titles of charts.
 */
export const besideOdf = async (bytes: Uint8Array): Promise<Beside> => {
  const parts = await unzip(bytes, (name) => /^(mimetype|((Object [^/]+\/)?content|styles)\.xml)$/.test(name))
  const gathering = gatherBeside()
  const isText = Buffer.from(parts.get('mimetype') ?? []).includes('opendocument.text')
  const hiddenStyles = new Set<string>()
  // Named styles come first, since the content refers to them.
  for (const [name, part] of [...parts].sort(([one], [other]) => (one < other ? 1 : -1))) {
    if (name === 'mimetype') continue
    // The styles of sheets and slides contain sample headers, which no author wrote.
    if (name === 'styles.xml' && !isText) {
      gathering.attempt(() => readPageStyles(part, usedPages(parts.get('content.xml')), gathering))
      continue
    }
    if (name.startsWith('Object ')) gathering.attempt(() => readChart(part, gathering))
    else gathering.attempt(() => readBody(part, hiddenStyles, gathering))
  }
  return gathering.finish()
}

/** Elements whose text is collected separately. */
const gathered = new Set(['a', 'desc', 'annotation', 'creator', 'header', 'footer', 'span'])

/** The page styles that sheets name as their own. No author chose the style of a new file. */
const usedPages = (content: Uint8Array | undefined): ReadonlySet<string> => {
  const used = new Set<string>()
  if (!content) return used
  scanXml(content, {
    open(element, attribute) {
      const name = element === 'style' && attribute('family') === 'table' ? attribute('master-page-name') : null
      if (name && name !== 'Default') used.add(name)
    },
  })
  return used
}

/** A header of one word is a sample, such as the name of the sheet, and is left out. */
const readPageStyles = (part: Uint8Array, used: ReadonlySet<string>, gathering: Gathering): void => {
  let isUsed = false
  let label: string | null = null
  scanXml(part, {
    open(element, attribute) {
      if (element === 'master-page') isUsed = used.has(attribute('name') ?? '')
      if (isUsed && /^(header|footer)$/.test(element)) label = attribute('display') === 'false' ? null : ''
    },
    text(text, within) {
      if (label !== null && /^(p|span)$/.test(within)) label += text
    },
    close(element) {
      if (label === null || (element !== 'header' && element !== 'footer')) return
      if (shortened(label).includes(' ')) gathering.add(element === 'header' ? 'headers' : 'footers', shortened(label))
      label = null
    },
  })
}

/** Fields of forms; their values are attributes. */
const fields = new Set(['textarea', 'formatted-text', 'number', 'combobox', 'checkbox', 'text', 'date', 'time'])

/** A text belongs to all open elements: a header also contains the text of its link. */
const readBody = (part: Uint8Array, hiddenStyles: Set<string>, gathering: Gathering): void => {
  const frames: { readonly element: string; readonly value: string | null; text: string }[] = []
  let style = ''
  let author = ''
  const close = (element: string, value: string | null, text: string): void => {
    const words = shortened(text)
    if (element === 'a' && value) gathering.add('links', { url: value.slice(0, 2_000), text: words, at: null })
    else if (element === 'creator') author = words
    else if (element === 'annotation') {
      gathering.add('comments', { author: author || null, text: words, at: null })
      author = ''
    } else if (words === '') return
    else if (element === 'desc') gathering.add('images', { alt: words, at: null })
    else if (element === 'header') gathering.add('headers', words)
    else if (element === 'footer') gathering.add('footers', words)
    else if (element === 'span' && hiddenStyles.has(value ?? '')) gathering.add('hidden', words)
  }
  scanXml(part, {
    open(element, attribute) {
      if (element === 'style') style = attribute('name') ?? ''
      if (element === 'text-properties' && attribute('display') === 'none') hiddenStyles.add(style)
      const value = fields.has(element) ? attribute('current-value') || attribute('current-state') : null
      if (value) gathering.add('forms', { name: shortened(attribute('name') ?? ''), value: shortened(value), at: null })
      if (!gathered.has(element)) return
      frames.push({ element, value: attribute(element === 'a' ? 'href' : 'style-name'), text: '' })
    },
    text(text, within) {
      if (within === 'date') return
      for (const frame of frames) if (within !== 'creator' || frame.element === 'creator') frame.text += text
    },
    close(element) {
      if (element === 'p') for (const frame of frames) frame.text += ' '
      if (frames.at(-1)?.element !== element) return
      const { value, text } = frames.pop()!
      close(element, value, text)
    },
  })
}

/** The title of a chart, and its series as the columns of the chart's own table. */
const readChart = (part: Uint8Array, gathering: Gathering): void => {
  let isChart = false
  let title = ''
  let cell: string | null = null
  const rows: string[][] = []
  const within: string[] = []
  scanXml(part, {
    open(element) {
      within.push(element)
      if (element === 'chart') isChart = true
      else if (element === 'table-row') rows.push([])
      else if (element === 'table-cell') cell = ''
    },
    text(text, inside) {
      // The `desc` element of a cell only names its place in the sheet.
      if (inside === 'desc') return
      if (within.includes('title') && !within.includes('axis')) title += text
      if (cell !== null) cell += text
    },
    close(element) {
      within.pop()
      if (element !== 'table-cell' || cell === null) return
      if (rows.length <= 1_000 && rows.at(-1)!.length < 100) rows.at(-1)!.push(shortened(cell))
      cell = null
    },
  })
  if (!isChart) return
  const [names = [], ...values] = rows.slice(0, 1_000)
  const series = names.slice(1).map((name, at) => ({
    name: name || null,
    categories: values.map((row) => row[0] ?? ''),
    values: values.map((row) => numberOf(row[at + 1] ?? '')),
  }))
  gathering.add('charts', { title: shortened(title) || null, series })
}

/** Null for an empty cell and for text. */
const numberOf = (text: string): number | null => (text !== '' && Number.isFinite(Number(text)) ? Number(text) : null)
