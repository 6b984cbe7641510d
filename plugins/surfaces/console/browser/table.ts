import { csvOf } from './csv.ts'
import { type Child, el, div } from './element.ts'
import { type Lamp, badge, button, copied, link } from './parts.ts'

export interface Column<Row> {
  readonly head: string
  /** As the CSV has it; null is an empty cell. */
  value(row: Row): string | number | null
  /** As the page has it; `value`, or a dash for null, when absent. */
  readonly show?: (row: Row) => Child
  readonly number?: true
  /** Only the CSV has it. */
  readonly hidden?: true
}

/** A column of numbers. The page has words for each, and a dash for null. */
export const figure = <Row>(
  head: string,
  value: (row: Row) => number | null,
  words: (value: number) => Child,
): Column<Row> => ({
  ...{ head, value, number: true },
  show: (row) => {
    const known = value(row)
    return known === null ? '–' : words(known)
  },
})

/** A column of states with their lamps. */
export const lamp = <Row>(head: string, of: (row: Row) => Lamp): Column<Row> => ({
  head,
  value: (row) => of(row).words,
  show: (row) => badge(of(row).kind, of(row).words),
})

/** A column of names that lead to their places in the console. */
export const linked = <Row>(
  head: string,
  value: (row: Row) => string,
  place: (name: string) => string,
): Column<Row> => ({
  ...{ head, value },
  show: (row) => link(value(row), place(value(row))),
})

export interface Table<Row> {
  readonly title: string
  /** Of the file of the CSV, without its ending. */
  readonly file: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  /** What asks the gateway for the same. */
  readonly curl: string
  readonly empty: string
  readonly beside?: Child
  /** The rows of the CSV where the page shows a part of them alone. */
  readonly saved?: readonly Row[] | (() => Promise<readonly Row[]>)
  readonly order?: Order
}

/** The column that orders the rows, and what a click on a head does. */
export interface Order {
  /** The head of the column; empty for none. */
  readonly by: string
  readonly descending: boolean
  /** The heads that order rows; all of them when absent. */
  readonly heads?: readonly string[]
  choose(head: string): void
}

const download = (file: string, text: string): void => {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }))
  el('a', { href: address, download: `${file}.csv` }).click()
  URL.revokeObjectURL(address)
}

/** The table as it would be read in a spreadsheet. */
const csvOfTable = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string =>
  csvOf(
    columns.map(({ head }) => head),
    rows.map((row) => columns.map(({ value }) => value(row))),
  )

/** Saves the rows that are shown, or all rows once they are read. */
const saving = <Row>({ file, columns, rows, saved = rows }: Table<Row>): HTMLElement => {
  const save = async (): Promise<void> => {
    try {
      download(file, csvOfTable(columns, typeof saved === 'function' ? await saved() : saved))
    } catch {
      own.textContent = 'CSV failed: again'
    }
  }
  const own = button('CSV', save, 'quiet')
  return own
}

const bodyOf = <Row>({ columns, rows, empty }: Table<Row>): readonly Child[] =>
  rows.length === 0
    ? [el('tr', {}, el('td', { colspan: columns.length, class: 'empty' }, empty))]
    : rows.map((row) =>
        el(
          'tr',
          {},
          columns.map(({ value, show, number }, at) =>
            el(
              at === 0 ? 'th' : 'td',
              { class: number ? 'number' : null, scope: at === 0 ? 'row' : null },
              show === undefined ? (value(row) ?? '–') : show(row),
            ),
          ),
        ),
      )

const headOf = <Row>({ head, number }: Column<Row>, order: Order | undefined): HTMLElement => {
  const kind = number ? 'number' : null
  if (order === undefined || order.heads?.includes(head) === false) return el('th', { scope: 'col', class: kind }, head)
  const sorted = order.by === head ? (order.descending ? 'descending' : 'ascending') : null
  const sort = button(head, () => order.choose(head), 'order')
  return el('th', { scope: 'col', class: kind, 'aria-sort': sorted }, sort)
}

/** Heads and rows of a table; a narrow screen scrolls it sideways. */
export const scrolled = (title: string, heads: readonly Child[], rows: readonly Child[]): HTMLElement =>
  el(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': title },
    el('table', {}, el('thead', {}, el('tr', {}, heads)), el('tbody', {}, rows)),
  )

/** A table with its CSV and the command that asks for it. */
export const table = <Row>(whole: Table<Row>): HTMLElement => {
  const shown = { ...whole, columns: whole.columns.filter(({ hidden }) => hidden !== true) }
  return el(
    'section',
    { class: 'card' },
    div(
      'bar',
      el('h2', {}, shown.title),
      div(
        'actions',
        shown.beside ?? null,
        saving(whole),
        el(
          'details',
          { class: 'curl' },
          el('summary', {}, 'as curl'),
          div('float', copied(shown.curl, `${shown.title} as curl`)),
        ),
      ),
    ),
    scrolled(
      shown.title,
      shown.columns.map((column) => headOf(column, shown.order)),
      bodyOf(shown),
    ),
  )
}
