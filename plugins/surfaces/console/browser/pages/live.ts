import type { Key, Running } from '../answers.ts'
import { type Child, el } from '../element.ts'
import { count, counted, moment } from '../format.ts'
import { Refused, curlOf, wholeList } from '../gateway.ts'
import { liveChoice } from '../live-choice.ts'
import { liveFeed, livePath } from '../live-feed.ts'
import { type KeyNames, liveTable, keyWords, teamOf } from '../live-table.ts'
import { type Page, type View, every, renew } from '../page.ts'
import { button, heading, link, note, stack, toldPlace, badge, facts, section } from '../parts.ts'
import { lengthOf, standOf, timeOf } from '../running.ts'
import { attemptTable, waterfall } from '../waterfall.ts'

/** Ms between two drawings. */
const pace = 500

/** Names are an ornament: without them the ids are shown. */
const namesOf = async ({ gateway, sight }: View): Promise<KeyNames> => {
  const all = await wholeList<Key>(gateway, '/admin/keys', 'keys', { organization: sight.operates ? '*' : null })
  return new Map(all.rows.map(({ id, name, team }) => [id, { name, team }]))
}

const listen = (view: View): void => {
  const { gateway, sight, signal } = view
  liveFeed.listen(gateway, livePath(sight.operates), signal).catch((error: unknown) => {
    if (error instanceof Refused && !signal.aborted) view.leave(error)
  })
}

const told = (): string => {
  const processes = liveFeed.processes()
  const sampled = liveFeed.passed()
  return [
    liveFeed.state(),
    processes > 0 ? counted(processes, 'process', 'processes') : '',
    sampled > 0 ? `a sample: ${count(sampled)} not shown` : '',
  ]
    .filter((word) => word !== '')
    .join(' · ')
}

const curl = ({ gateway, sight }: View): string => curlOf(gateway.base, livePath(sight.operates))

const scope = ({ sight }: View): string =>
  sight.operates ? 'Requests of all organisations' : 'Requests of your organisation'

const list = (view: View, names: KeyNames): readonly Child[] => {
  const region = stack()
  const state = toldPlace()
  let paused = false
  /** A row that changes is another one. */
  let drawn: readonly Running[] | null = null
  const isDrawn = (rows: readonly Running[]): boolean =>
    drawn?.length === rows.length && rows.length > 0 && rows.every((row, at) => row === drawn?.[at])
  const draw = async (): Promise<void> => {
    const words = told()
    // A status that does not change is not announced again.
    if (state.textContent !== words) state.textContent = words
    if (paused) return
    const all = liveFeed.rows()
    const rows = choice.chosen(all)
    if (isDrawn(rows)) return
    const empty =
      all.length === 0 ? 'No request has begun since this page listens.' : 'This tab has seen no such request.'
    if (renew(region, liveTable(rows, names, curl(view), empty))) drawn = rows
  }
  const choice = liveChoice(view.query, names, () => void draw())
  const pausing = button('Pause', () => {
    paused = !paused
    pausing.textContent = paused ? 'Go on' : 'Pause'
    pausing.setAttribute('aria-pressed', String(paused))
    void draw()
  })
  void draw()
  every(pace, view.signal, draw)
  return [
    heading('Live', state, pausing),
    choice.node,
    region,
    note(
      `${scope(view)}, at most 50 a second, as they begin and end while this page is open. `,
      'Prompts and answers are never here; of a sealed request there is what the gateway sees.',
    ),
  ]
}

const detail = (view: View, names: KeyNames, id: string): readonly Child[] => {
  const region = stack()
  const draw = async (): Promise<void> => {
    const request = liveFeed.find(id)
    if (request === null)
      return region.replaceChildren(
        note('This tab has not seen the request. A tab sees those that begin while it listens.'),
      )
    renew(region, ...liveDetail(request, names, curl(view), Date.now()).filter((part) => part instanceof Node))
  }
  void draw()
  every(pace, view.signal, draw)
  return [heading('One request', link('All requests', '#/live')), region]
}

export const live: Page = {
  name: 'live',
  title: 'Live',
  sees: ({ administers }) => administers,
  async show(view) {
    // Before anything is awaited: the stream of the page before goes on.
    listen(view)
    const names = await namesOf(view)
    const [id] = view.path
    return id === undefined ? list(view, names) : detail(view, names, id)
  },
}

const about = (request: Running, names: KeyNames, now: number): HTMLElement => {
  const { kind, words } = standOf(request)
  const tokens = request.tokens && `${count(request.tokens.input)} in, ${count(request.tokens.output)} out`
  return section(
    'Request',
    facts([
      ['Status', badge(kind, words)],
      ['Began', moment(request.at)],
      [
        'Time',
        `${timeOf(lengthOf(request, now))}${request.ms === null && request.lost !== true ? ', and it runs' : ''}`,
      ],
      ['First token', timeOf(request.first_token)],
      ['Route', el('code', {}, request.route)],
      ['Model', request.model ?? '–'],
      ['Backend', request.backend ?? '–'],
      ['Tokens', tokens ?? '–'],
      ['Key', request.key === null ? '–' : keyWords(request.key, names)],
      ['Team', teamOf(request, names) ?? '–'],
      ['Organisation', request.organization ?? '–'],
      ['Id', el('code', {}, request.id), 'wide'],
    ]),
  )
}

/** One request with its attempts. */
const liveDetail = (request: Running, names: KeyNames, curl: string, now: number): readonly Child[] => [
  about(request, names, now),
  request.attempts.length === 0
    ? note('The gateway saw no attempt: a sealed request is answered inside the enclave.')
    : section('Attempts in time', waterfall(request, now)),
  attemptTable(request, curl),
  request.attempts_left_out > 0 && note(`${count(request.attempts_left_out)} further attempts are not listed.`),
]
