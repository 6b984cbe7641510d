import type { Key, Team } from './answers.ts'
import { el } from './element.ts'
import { type Gateway, pathOf, unlessRefused, wholeList } from './gateway.ts'
import { nameOr } from './key-state.ts'
import type { Page } from './page.ts'
import { link } from './parts.ts'
import { type Sight, modelsOf } from './sight.ts'

/** A place of the console that words lead to. */
export interface Place {
  readonly words: string
  readonly hash: string
}

/** Places that are shown at once. */
const most = 12
/** The id of a request or a key. */
const idShape = /^(?:key_)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The first places that have each word; an id leads to its request or key also where the list lacks it. */
export const placesFor = (words: string, places: readonly Place[]): readonly Place[] => {
  const wanted = words.toLowerCase().trim()
  const found = places.filter((place) =>
    wanted.split(/\s+/).every((word) => `${place.words} ${place.hash}`.toLowerCase().includes(word)),
  )
  if (!idShape.test(wanted)) return found.slice(0, most)
  const page = wanted.startsWith('key_') ? 'keys' : 'live'
  return [{ words: `${page === 'keys' ? 'Key' : 'Request'} ${wanted}`, hash: `#/${page}/${wanted}` }]
}

const listedPlaces = async (gateway: Gateway, sight: Sight): Promise<readonly Place[]> => {
  if (!sight.administers) return []
  const [models, teams] = await Promise.all([
    unlessRefused(modelsOf(gateway, sight), 403),
    wholeList<Team>(gateway, '/admin/teams', 'teams'),
  ])
  return [
    ...teams.rows.map(({ name }) => ({ words: `Team ${name}`, hash: `#/teams/${encodeURIComponent(name)}` })),
    ...(models ?? []).map(({ model }) => ({
      words: `Model ${model}`,
      hash: pathOf('#/usage', { by: 'day', model }),
    })),
  ]
}

/** The gateway looks for keys; the word `key` is none of a name. */
const keyPlaces = async (gateway: Gateway, words: string): Promise<readonly Place[]> => {
  const search = words.replace(/^key\s+/i, '').trim()
  if (search === '') return []
  const { keys } = await gateway.ask<{ readonly keys: readonly Key[] }>(
    'GET',
    pathOf('/admin/keys', { search, limit: most }),
  )
  return keys.map((key) => ({
    words: `Key ${nameOr(key, '(no name)')} …${key.hint}`,
    hash: `#/keys/${encodeURIComponent(key.id)}`,
  }))
}

const linksIn = (list: HTMLElement): readonly HTMLElement[] => [...list.querySelectorAll('a')]

/** A place that has the focus keeps the focus when an answer of the gateway comes later. */
const redraw = (list: HTMLElement, input: HTMLElement, shown: readonly Place[]): void => {
  const chosen = document.activeElement?.closest('.places a')?.getAttribute('href')
  list.replaceChildren(
    ...(shown.length === 0
      ? [el('li', { class: 'note' }, 'Nothing is called so.')]
      : shown.map(({ words, hash }) => el('li', {}, link(words, hash)))),
  )
  if (chosen != null) (linksIn(list).find((place) => place.getAttribute('href') === chosen) ?? input).focus()
}

/** Asks where to go: a page, a team, a model, a key, or the id of a request. Escape goes nowhere. */
export const jump = (gateway: Gateway, sight: Sight, pages: readonly Page[]): void => {
  const own = pages.map(({ name, title }) => ({ words: title, hash: `#/${name}` }))
  let places: readonly Place[] = own
  let keys: readonly Place[] = []
  let latest = ''
  const input = el('input', {
    ...{ type: 'text', 'aria-label': 'Go to', placeholder: 'Page, key, team, model or request id' },
    ...{ autocomplete: 'off', spellcheck: 'false', on: { input: () => (draw(), void find()) } },
  })
  const list = el('ul', { class: 'places' })
  const dialog = el('dialog', { 'aria-label': 'Go to', on: { close: () => dialog.remove() } }, input, list)
  const draw = (): void => {
    const named = placesFor(input.value, places)
    const others = keys.filter(({ hash }) => !named.some((place) => place.hash === hash))
    redraw(list, input, [...named, ...others].slice(0, most))
  }
  /** One question at a time, about the words of now. */
  const find = async (): Promise<void> => {
    if (latest !== '' || !sight.administers) return
    while (latest !== input.value && dialog.isConnected) {
      latest = input.value
      keys = await keyPlaces(gateway, latest).catch(() => [])
      draw()
    }
    latest = ''
  }
  const step = (by: 1 | -1): void => {
    const stops = [input, ...linksIn(list)]
    const at = stops.findIndex((stop) => stop === document.activeElement)
    stops[(at + by + stops.length) % stops.length]?.focus()
  }
  dialog.addEventListener('keydown', ({ key, target }) => {
    if (key === 'ArrowDown') step(1)
    if (key === 'ArrowUp') step(-1)
    if (key === 'Enter' && target === input) linksIn(list)[0]?.click()
  })
  list.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('a') !== null) dialog.close()
  })
  draw()
  document.body.append(dialog)
  dialog.showModal()
  // The pages are there without the lists.
  void listedPlaces(gateway, sight).then(
    (listed) => {
      places = [...own, ...listed]
      draw()
    },
    () => list.append(el('li', { class: 'note' }, 'The lists of teams and models cannot be read now.')),
  )
}
