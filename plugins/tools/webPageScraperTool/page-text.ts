import { cutText } from '../../shared/cut-text.ts'

/** A text of at most the characters that were asked for. */
export interface PlainText {
  readonly text: string
  /** True when the text was longer. */
  readonly cut: boolean
}

/** Elements whose text a browser does not show as text of the page. */
const unseen = new Set(
  'AUDIO CANVAS DATALIST HEAD IFRAME LINK MATH META NOSCRIPT OBJECT SCRIPT SELECT STYLE SVG TEMPLATE TEXTAREA TITLE VIDEO'.split(
    ' ',
  ),
)
/** Elements that begin and end a line, or are separated by an empty line. */
const lines = new Set(
  (
    'ADDRESS ARTICLE ASIDE BODY CAPTION DD DETAILS DIALOG DIV DT FIELDSET FIGCAPTION FIGURE FOOTER FORM HEADER HR ' +
    'LEGEND LI MAIN MENU NAV SEARCH SECTION SUMMARY TBODY TFOOT THEAD TR'
  ).split(' '),
)
const paragraphs = new Set('BLOCKQUOTE DL H1 H2 H3 H4 H5 H6 OL P PRE TABLE UL'.split(' '))
const cells = new Set(['TD', 'TH'])

/** The visible text of a part of a page: blocks on their own lines, a dash before items, tabs between cells. */
export const plainText = (root: Element, most: number): PlainText => {
  const writing = write(most)
  let preformatted = 0
  const enter = (element: Element): boolean => {
    const name = element.tagName.toUpperCase()
    if (unseen.has(name) || element.hasAttribute('hidden') || element.getAttribute('aria-hidden') === 'true') {
      return false
    }
    if (name === 'BR') writing.line()
    writing.gap(gapOf(name))
    if (name === 'LI') writing.mark('- ')
    if (name === 'PRE') preformatted++
    if (cells.has(name)) writing.cell()
    return true
  }
  const leave = (element: Element): void => {
    const name = element.tagName.toUpperCase()
    if (name === 'PRE') preformatted--
    if (name === 'LI') writing.mark('')
    if (cells.has(name)) writing.tab()
    writing.gap(gapOf(name))
  }
  walk(root, enter, leave, (text) => {
    if (preformatted > 0) writing.exactly(text)
    else writing.flowing(text)
    return !writing.full()
  })
  return writing.end()
}

/** Line ends before and behind an element. */
const gapOf = (name: string): number => (paragraphs.has(name) ? 2 : lines.has(name) ? 1 : 0)

/** Walks without recursion, since pages nest arbitrarily deep. `text` returns whether the walk continues. */
const walk = (
  root: Element,
  enter: (element: Element) => boolean,
  leave: (element: Element) => void,
  text: (text: string) => boolean,
): void => {
  let node: Node = root
  for (;;) {
    if (node.nodeType === 3 && !text(node.nodeValue ?? '')) return
    if (node.nodeType === 1 && enter(node as Element)) {
      if (node.firstChild) {
        node = node.firstChild
        continue
      }
      leave(node as Element)
    }
    while (node !== root && !node.nextSibling) {
      node = node.parentNode!
      leave(node as Element)
    }
    if (node === root) return
    node = node.nextSibling!
  }
}

/** Treats white space as a browser does: a run becomes one blank, and lines have none at their ends. */
const write = (most: number) => {
  const parts: string[] = []
  let length = 0
  let gap = 0
  let between = ''
  let mark = ''
  let fresh = false
  const put = (text: string): void => {
    if (text === '') return
    const before = (length === 0 ? '' : gap > 0 ? '\n'.repeat(gap) : between) + mark
    gap = 0
    between = mark = ''
    fresh = false
    parts.push(before, text)
    length += before.length + text.length
  }
  return {
    gap: (lines: number) => {
      if (!fresh) gap = Math.max(gap, lines)
    },
    line: () => (gap = Math.min(2, gap + 1)),
    /** A single paragraph in a cell stays in its row. */
    cell: () => (fresh = true),
    tab: () => {
      if (!fresh) gap = 0
      fresh = false
      between = '\t'
    },
    mark: (text: string) => (mark = text),
    exactly: put,
    flowing: (text: string) => {
      if (/^\s/.test(text)) between ||= ' '
      const words = text.trim().replace(/\s+/g, ' ')
      put(words)
      if (words !== '' && /\s$/.test(text)) between = ' '
    },
    full: () => length > most,
    end: (): PlainText => bounded(tidy(parts.join('')), most),
  }
}

/** No blanks at the ends of lines, and one empty line at most. */
const tidy = (text: string): string =>
  text
    .replace(/(?<![^\S\n])[^\S\n]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()

/** At most `most` characters. */
export const bounded = (text: string, most: number): PlainText => ({
  text: cutText(text, most),
  cut: text.length > most,
})
