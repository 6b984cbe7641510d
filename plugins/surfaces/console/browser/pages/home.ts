import { allSums, sumsPath } from '../all-sums.ts'
import type { Chained, Paged, Traffic } from '../answers.ts'
import { budgetsOf } from '../budgets.ts'
import { costTile, sumOf } from '../sums.ts'
import { type Child, el } from '../element.ts'
import { clockTime, count, percent, utcDay, zone, counted } from '../format.ts'
import { type Query, Refused, curlOf, pathOf, unlessRefused, wholeList } from '../gateway.ts'
import { type Page, type View, every, reading, renew } from '../page.ts'
import { button, heading, link, note, section, stack, tile, tiles } from '../parts.ts'
import { type Sample, samplesOf } from '../prometheus.ts'
import { type Trouble, troublesOf } from '../sentences.ts'
import { type Listed, modelsOf } from '../sight.ts'
import {
  type TrafficChoice,
  incidentTable,
  minuteTiles,
  trafficChoice,
  trafficPath,
  trafficPlots,
  trafficTable,
} from '../traffic-view.ts'
import { type SumRow, usageTable } from '../usage-table.ts'

/** Ms between two readings. */
const pace = 10_000

interface Health {
  readonly obstacle: string | null
  readonly degraded: readonly string[]
}

interface Seen {
  readonly health: Health
  /** Null where the key may not read the measurements. */
  readonly samples: readonly Sample[] | null
  /** Null where the key may not read it, or the gateway keeps none. */
  readonly traffic: Traffic | null
  /** Read while something fails. */
  readonly chains: readonly Chained[]
  /** Of today, in UTC, by model; null where the key may not read it. */
  readonly usage: readonly SumRow[] | null
  /** Null where the key may not list models, or the gateway is away. */
  readonly models: readonly Listed[] | null
  readonly progress: Progress
}

/** What the organisation has done already, as far as the key may read that. */
interface Progress {
  readonly hasKeys: boolean
  readonly hasCalls: boolean
}

/** Days in which a call of a key ends the first steps. */
const recentDays = 30

const healthOf = ({ gateway }: View): Promise<Health> =>
  gateway.ask<{ readonly degraded?: readonly string[] }>('GET', '/health/ready').then(
    ({ degraded = [] }) => ({ obstacle: null, degraded }),
    (error: unknown) => {
      if (error instanceof Refused && (error.status === 503 || error.status === 0))
        return { obstacle: error.message, degraded: [] }
      throw error
    },
  )

/** What fails while the gateway is not ready leaves a gap, and no page of errors. */
const unlessAway = <T>(health: Health, reading: Promise<T>, gap: T): Promise<T> =>
  reading.catch((error: unknown) => {
    if (health.obstacle !== null && error instanceof Refused && (error.status === 503 || error.status === 0)) return gap
    throw error
  })

const listed = ({ gateway, sight }: View): Promise<readonly Listed[] | null> =>
  unlessRefused(modelsOf(gateway, sight), 403)

const progressOf = async ({ gateway, sight }: View): Promise<Progress> => {
  if (!sight.administers) return { hasKeys: false, hasCalls: false }
  const first = (path: string, query: Query = {}) =>
    gateway.ask<{ readonly pagination: Paged }>('GET', pathOf(path, { ...query, limit: 1 }))
  const [keys, uses] = await Promise.all([
    first('/admin/keys'),
    first('/admin/usage', { from: utcDay(Date.now(), recentDays) }),
  ])
  // The key of the first start is the reader's own.
  return { hasKeys: keys.pagination.total > 1, hasCalls: uses.pagination.total > 0 }
}

const ofToday = () => ({ by: 'model', from: utcDay(Date.now()), to: utcDay(Date.now()) })

const usedToday = async ({ gateway }: View): Promise<readonly SumRow[]> =>
  (await allSums(gateway, ofToday())).map(({ name, ...sum }) => ({ name: name ?? 'no model', sum }))

const trafficOf = ({ gateway, sight }: View, choice: TrafficChoice): Promise<Traffic | null> =>
  sight.operates ? unlessRefused(gateway.ask<Traffic>('GET', trafficPath(choice)), 404) : Promise.resolve(null)

/** Which models callers call by the backends that fail. */
const chainsOf = async ({ gateway }: View, traffic: Traffic | null): Promise<readonly Chained[]> =>
  traffic?.incidents.some(({ until }) => until === null) === true
    ? (await wholeList<Chained>(gateway, '/admin/models', 'models', {}, 5)).rows
    : []

const look = async (view: View, choice: TrafficChoice): Promise<Seen> => {
  const { gateway, sight } = view
  const health = await healthOf(view)
  const [samples, traffic, usage, models, progress] = await Promise.all([
    unlessAway(health, sight.measures ? gateway.text('/metrics').then(samplesOf) : Promise.resolve(null), null),
    unlessAway(health, trafficOf(view, choice), null),
    unlessAway(health, sight.administers ? usedToday(view) : Promise.resolve(null), null),
    unlessAway(health, listed(view), null),
    unlessAway(health, progressOf(view), { hasKeys: true, hasCalls: true }),
  ])
  const chains = await unlessAway(health, chainsOf(view, traffic), [])
  return { health, samples, traffic, chains, usage, models, progress }
}

const troublesIn = ({ health, samples, traffic, chains }: Seen): readonly Trouble[] =>
  troublesOf({ ...health, samples: samples ?? [], incidents: traffic?.incidents ?? [], chains })

const troubles = (all: readonly Trouble[]): HTMLElement =>
  all.length === 0
    ? el('p', { class: 'fine' }, 'Ready. Nothing is wrong now.')
    : el(
        'ul',
        { class: 'troubles' },
        all.map(({ grave, words, hash }) =>
          el('li', { class: grave ? 'grave' : 'mild' }, words, hash !== undefined && [' ', link('See them', hash)]),
        ),
      )

/** The tab tells what is wrong, also behind other tabs. */
const tellTab = (all: readonly Trouble[], signal: AbortSignal): void => {
  const grave = all.some((trouble) => trouble.grave)
  const icon = document.querySelector('link[rel=icon]')
  const turn = (words: string, image: string): void => {
    document.title = words
    icon?.setAttribute('href', `data:${image}`)
  }
  const disc = encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="4" fill="#c3242e"/></svg>',
  )
  if (grave) turn(`(${all.length}) Home · sealgate`, `image/svg+xml,${disc}`)
  else turn('Home · sealgate', ',')
  signal.addEventListener('abort', () => icon?.setAttribute('href', 'data:,'), { once: true })
}

const figures = ({ health, samples, traffic, usage, models }: Seen, choice: TrafficChoice): HTMLElement => {
  if (samples === null && usage === null && models === null)
    return note(
      health.obstacle === null
        ? 'This key may read no figures and no list of models.'
        : 'The figures appear when the gateway answers again.',
    )
  const sum = usage && sumOf(usage.map((row) => row.sum))
  const [tightest = null] = budgetsOf(samples ?? [])
  return tiles(
    ...(traffic !== null && choice.span === 'hour' && choice.name === '' ? minuteTiles(traffic) : []),
    sum && tile('Requests today', count(sum.requests), counted(sum.input + sum.output, 'token')),
    sum && costTile('Cost today', sum),
    tightest && tile('Budget', percent(tightest.share), `${tightest.holder}, ${tightest.period}`),
    models && tile('Models', count(models.length), 'for this key'),
  )
}

/** Backends that need no configuration. */
const builtIn = ['rehearsal', 'use-lite']

/** What is left to do until a call was answered; null afterwards, also behind a restart. */
const steps = ({ gateway, sight }: View, { health, samples, traffic, models, progress }: Seen): HTMLElement | null => {
  if (samples === null || health.obstacle !== null || progress.hasCalls) return null
  if (traffic?.sums.some(({ requests }) => requests > 0) === true) return null
  const named = models?.some(({ model }) => !builtIn.includes(model)) ?? false
  const step = (done: boolean, ...words: readonly Child[]) =>
    el('li', { class: done ? 'done' : null }, done ? el('span', { class: 'unseen' }, 'Done: ') : null, words)
  return section(
    'First steps',
    el(
      'ol',
      { class: 'steps' },
      models !== null && step(named, 'Name a provider in the configuration, so that models are listed.'),
      step(
        progress.hasKeys,
        sight.administers ? [link('Make a key for an app', '#/keys/new'), '.'] : 'Get a key for an app.',
      ),
      step(false, 'Send a request to ', el('code', {}, gateway.base), '. Its model then appears here.'),
    ),
  )
}

const tables = (view: View, { traffic, usage }: Seen, choice: TrafficChoice): readonly Child[] => {
  const curl = curlOf(view.gateway.base, trafficPath(choice))
  return [
    traffic !== null && [
      trafficPlots(traffic, choice),
      ...trafficTable(traffic, choice, curl),
      incidentTable(traffic, curl),
    ],
    traffic === null &&
      usage !== null &&
      usageTable({
        title: 'Models used today',
        file: `usage-${utcDay(Date.now())}`,
        by: 'Model',
        rows: usage,
        curl: curlOf(view.gateway.base, sumsPath(ofToday())),
      }),
  ]
}

export const home: Page = {
  name: 'home',
  title: 'Home',
  sees: () => true,
  async show(view) {
    const [now, rest] = [el('div', { class: 'stack', 'aria-live': 'polite' }), stack()]
    const told = el('span', { class: 'told' })
    const choice = trafficChoice(view.query)
    const draw = (seen: Seen): void => {
      const all = troublesIn(seen)
      tellTab(all, view.signal)
      const words = section('Now', troubles(all))
      // The reader of a screen hears each exchange.
      if (words.textContent !== now.textContent) renew(now, words)
      renew(rest, stack(figures(seen, choice), steps(view, seen), tables(view, seen, choice)))
    }
    const read = async (): Promise<void> => {
      const seen = await look(view, choice)
      if (!view.signal.aborted) draw(seen)
    }
    const words = (): string => `Refreshed at ${clockTime(Date.now())}`
    const again = reading(view, told, read, words)
    draw(await look(view, choice))
    told.textContent = words()
    every(pace, view.signal, again)
    return [
      heading('Home', told, button('Refresh', again, 'quiet')),
      now,
      rest,
      note(`Times are those of ${zone()}. Days of usage are days of UTC.`),
    ]
  },
}
