import type { Running } from './answers.ts'
import { el, div } from './element.ts'
import { type Query, pathOf } from './gateway.ts'
import { type Filter, filterSelect, fitting } from './list-view.ts'
import { type KeyNames, keyWords, teamOf } from './live-table.ts'
import { standOf } from './running.ts'

/** Which requests the page shows; the choice stands in the address. */
export interface LiveChoice {
  readonly node: HTMLElement
  /** The requests that fit, and choices for the values that they have. */
  chosen(requests: readonly Running[]): readonly Running[]
}

const isFailed = ({ status }: Running): boolean => status !== null && status >= 400

const filters: Readonly<Record<string, (request: Running) => boolean>> = {
  all: () => true,
  running: ({ ms, lost }) => ms === null && lost !== true,
  failed: isFailed,
  rescued: ({ attempts }) => attempts.length > 1,
}

const isFilter = (name: string | null): name is string => name !== null && Object.hasOwn(filters, name)

/** The values by which the list narrows; each stands in the address. */
const narrowing = (names: KeyNames): readonly Filter<Running>[] => [
  { name: 'model', label: 'Model', of: ({ model }) => model ?? '' },
  { name: 'backend', label: 'Backend', of: ({ backend }) => backend ?? '' },
  { name: 'status', label: 'Status', of: (request) => standOf(request).words },
  { name: 'team', label: 'Team', of: (request) => teamOf(request, names) ?? '' },
  { name: 'key', label: 'Key', of: ({ key }) => (key === null ? '' : keyWords(key, names)) },
]

const wordsOf = (request: Running, names: KeyNames): string =>
  [
    ...[request.id, request.model, request.backend, request.route, request.organization, standOf(request).words],
    ...[request.key === null ? '' : keyWords(request.key, names), teamOf(request, names)],
  ].join(' ')

const tabsOf = (shown: string, address: (more: Query) => string): HTMLElement =>
  el(
    'nav',
    { class: 'tabs', 'aria-label': 'Which requests' },
    Object.keys(filters).map((name) =>
      el(
        'a',
        { href: address({ show: name === 'all' ? null : name }), 'aria-current': name === shown ? 'page' : null },
        name,
      ),
    ),
  )

const searchBox = (words: string, write: (words: string) => void): HTMLElement => {
  const search = el('input', {
    ...{ type: 'search', class: 'search', 'aria-label': 'Search requests', placeholder: 'Id, model, key, route …' },
    ...{ value: words, autocomplete: 'off', spellcheck: 'false' },
    on: { input: () => write(search.value.trim()) },
  })
  return search
}

/** A search, tabs and choices by value; `changed` follows each change. */
export const liveChoice = (query: URLSearchParams, names: KeyNames, changed: () => void): LiveChoice => {
  const tab = query.get('show')
  const shown = isFilter(tab) ? tab : 'all'
  const fields = narrowing(names)
  const choice = {
    words: query.get('q') ?? query.get('id') ?? '',
    filters: new Map(fields.map(({ name }) => [name, query.get(name) ?? ''])),
  }
  const [selects, tabs] = [div('span'), el('div')]
  let options = ''
  const address = (more: Query): string => {
    const show = shown === 'all' ? null : shown
    return pathOf('#/live', { show, q: choice.words, ...Object.fromEntries(choice.filters), ...more })
  }
  const keep = (): void => {
    history.replaceState(history.state, '', address({}))
    tabs.replaceChildren(tabsOf(shown, address))
    changed()
  }
  const offer = (requests: readonly Running[]): void => {
    const values = JSON.stringify(fields.map(({ of }) => [...new Set(requests.map(of))].sort()))
    if (values === options || selects.contains(document.activeElement)) return
    options = values
    const select = (field: Filter<Running>): HTMLElement =>
      filterSelect(field, requests, choice.filters.get(field.name) ?? '', (value) => {
        choice.filters.set(field.name, value)
        keep()
      })
    selects.replaceChildren(...fields.map(select))
  }
  const search = searchBox(choice.words, (words) => {
    choice.words = words
    keep()
  })
  tabs.replaceChildren(tabsOf(shown, address))
  return {
    node: div('choices', tabs, div('span', search, selects)),
    chosen(requests) {
      offer(requests)
      const fits = fitting({ words: (request: Running) => wordsOf(request, names), filters: fields }, choice)
      return requests.filter((request) => fits(request) && filters[shown]?.(request))
    },
  }
}
