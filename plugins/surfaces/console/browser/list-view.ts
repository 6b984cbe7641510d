import { type Child, el, div } from './element.ts'
import { count } from './format.ts'
import { pathOf } from './gateway.ts'
import type { View } from './page.ts'
import { button, stack, select } from './parts.ts'
import { type Column, type Table, table } from './table.ts'

/** A choice among the values that the rows have. */
export interface Filter<Row> {
  /** Its name in the address. */
  readonly name: string
  readonly label: string
  of(row: Row): string
}

export interface ListView<Row> {
  readonly view: Pick<View, 'query'>
  /** Where the list stands in the address, such as `#/keys`. */
  readonly path: string
  readonly table: Table<Row>
  /** The text of a row that a search looks through. */
  words(row: Row): string
  readonly filters?: readonly Filter<Row>[]
  /** The head of the column that orders the rows before the reader chooses one. */
  readonly order?: string
}

/** Rows of one page of a list. */
const pageRows = 100

/** What the reader has chosen; all of it stands in the address. */
interface Choice {
  words: string
  /** The head of a column; empty for the order of the gateway. */
  order: string
  descending: boolean
  page: number
  readonly filters: Map<string, string>
}

const choiceOf = <Row>({ view: { query }, filters = [], order = '' }: ListView<Row>): Choice => ({
  words: query.get('q') ?? '',
  order: query.get('sort') ?? order,
  descending: query.get('down') !== null,
  page: Math.max(1, Number.parseInt(query.get('page') ?? '1', 10) || 1),
  filters: new Map(filters.map(({ name }) => [name, query.get(name) ?? ''])),
})

const addressOf = (path: string, kept: URLSearchParams, choice: Choice): string =>
  pathOf(path, {
    ...Object.fromEntries(kept),
    q: choice.words,
    sort: choice.order,
    down: choice.descending ? '1' : null,
    page: choice.page === 1 ? null : choice.page,
    ...Object.fromEntries(choice.filters),
  })

const texts = new Intl.Collator(undefined, { numeric: true })

/** Compares two cells; an empty cell stands behind every other one, whatever the direction. */
const compared = (one: string | number | null, other: string | number | null, turn: 1 | -1): number => {
  if (one === null || other === null) return Number(one === null) - Number(other === null)
  const order =
    typeof one === 'number' && typeof other === 'number' ? one - other : texts.compare(String(one), String(other))
  return turn * order
}

/** Whether a row has each word of a search and each chosen value. */
export const fitting = <Row>(
  { words, filters = [] }: Pick<ListView<Row>, 'words' | 'filters'>,
  choice: { readonly words: string; readonly filters: ReadonlyMap<string, string> },
): ((row: Row) => boolean) => {
  const wanted = choice.words.toLowerCase().split(/\s+/)
  const chosen = filters.filter(({ name }) => (choice.filters.get(name) ?? '') !== '')
  return (row) => {
    if (!chosen.every(({ name, of }) => of(row) === choice.filters.get(name))) return false
    const text = words(row).toLowerCase()
    return wanted.every((word) => text.includes(word))
  }
}

/** The rows that fit the choice, in its order. */
const chosenRows = <Row>(list: ListView<Row>, choice: Choice): Row[] => {
  const rows = list.table.rows.filter(fitting(list, choice))
  const column: Column<Row> | undefined = list.table.columns.find(({ head }) => head === choice.order)
  if (column === undefined) return rows
  const turn = choice.descending ? -1 : 1
  return rows.sort((one, other) => compared(column.value(one), column.value(other), turn))
}

/** A choice among the values that the rows have now. */
export const filterSelect = <Row>(
  { name, label, of }: Filter<Row>,
  rows: readonly Row[],
  chosen: string,
  choose: (value: string) => void,
): HTMLElement => {
  const values = [...new Set(rows.map(of))].filter((value) => value !== '').sort(texts.compare)
  // A value of the address without a row stays, so that the reader sees why the list is empty.
  if (chosen !== '' && !values.includes(chosen)) values.push(chosen)
  const change = (event: Event): void => choose((event.target as HTMLSelectElement).value)
  const options = values.map((value) => [value, value] as const)
  return select(
    { 'aria-label': label, 'data-filter': name, on: { change } },
    [['', `${label}: all`], ...options],
    chosen,
  )
}

/** Where the reader is among the pages of a list, and the ways to the next ones. */
export const turning = (page: number, pages: number, turn: (page: number) => void): HTMLElement | null =>
  pages < 2
    ? null
    : el(
        'nav',
        { class: 'span', 'aria-label': 'Pages of the list' },
        page > 1 && button('Previous', () => turn(page - 1), 'quiet'),
        `Page ${count(page)} of ${count(pages)}`,
        page < pages && button('Next', () => turn(page + 1), 'quiet'),
      )

/** A list with search, filters, an order by each column and pages. A link to the address shows the same list. */
export const listView = <Row>(list: ListView<Row>): readonly HTMLElement[] => {
  const choice = choiceOf(list)
  const own = new Set(['q', 'sort', 'down', 'page', ...(list.filters ?? []).map(({ name }) => name)])
  const kept = new URLSearchParams([...list.view.query].filter(([name]) => !own.has(name)))
  const region = stack()
  const keep = (change: Partial<Choice>): void => {
    Object.assign(choice, { page: 1 }, change)
    history.replaceState(history.state, '', addressOf(list.path, kept, choice))
    draw()
  }
  const choose = (head: string): void => {
    keep({ order: head, descending: choice.order === head && !choice.descending })
    region.querySelector<HTMLElement>('[aria-sort] button')?.focus()
  }
  const draw = (): void => {
    const rows = chosenRows(list, choice)
    const pages = Math.max(1, Math.ceil(rows.length / pageRows))
    const page = Math.min(choice.page, pages)
    const narrowed = rows.length < list.table.rows.length
    const shown: Child[] = [
      table<Row>({
        ...list.table,
        title: narrowed ? `${list.table.title}, ${count(rows.length)} shown` : list.table.title,
        empty: narrowed ? 'No row fits the search.' : list.table.empty,
        rows: rows.slice((page - 1) * pageRows, page * pageRows),
        saved: rows,
        order: { by: choice.order, descending: choice.descending, choose },
      }),
      turning(page, pages, (next) => keep({ page: next })),
    ]
    region.replaceChildren(...shown.filter((part) => part instanceof Node))
  }
  const search = el('input', {
    ...{ type: 'search', class: 'search', placeholder: 'Search', 'aria-label': `Search ${list.table.file}` },
    ...{ value: choice.words, autocomplete: 'off', spellcheck: 'false' },
    on: { input: () => keep({ words: search.value.trim() }) },
  })
  const selects = (list.filters ?? []).map((filter) =>
    filterSelect(filter, list.table.rows, choice.filters.get(filter.name) ?? '', (value) => {
      choice.filters.set(filter.name, value)
      keep({})
    }),
  )
  draw()
  return [div('choices', div('span', search, selects)), region]
}
