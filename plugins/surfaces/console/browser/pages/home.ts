import type { Usage } from '../answers.ts'
import { backendTable } from '../backend-table.ts'
import { budgetsOf } from '../budgets.ts'
import { costTile } from '../costs.ts'
import { type Child, el } from '../element.ts'
import { clockTime, count, decimal, percent, utcDay, zone } from '../format.ts'
import { Refused, curlOf, pathOf, unlessRefused } from '../gateway.ts'
import { wholeList } from '../listing.ts'
import { type Page, type View, every, renew } from '../page.ts'
import { button, heading, link, note, section, stack, tile, tiles } from '../parts.ts'
import { type Measured, readings } from '../readings.ts'
import { troublesOf } from '../sentences.ts'
import { type Listed, modelsOf } from '../sight.ts'
import { sumOf, sumsBy } from '../sums.ts'
import { usageTable } from '../usage-table.ts'

/** Ms between two readings. */
const pace = 10_000

interface Health {
  readonly obstacle: string | null
  readonly degraded: readonly string[]
}

interface Seen {
  readonly health: Health
  readonly measured: Measured | null
  /** Of today, in UTC; null where the key may not read it. */
  readonly usage: readonly Usage[] | null
  /** Null where the key may not list models. */
  readonly models: readonly Listed[] | null
}

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
const unlessAway = <T>(health: Health, asked: Promise<T>, gap: T): Promise<T> =>
  asked.catch((error: unknown) => {
    if (health.obstacle !== null && error instanceof Refused && (error.status === 503 || error.status === 0)) return gap
    throw error
  })

const listed = ({ gateway, sight }: View): Promise<readonly Listed[] | null> =>
  unlessRefused(modelsOf(gateway, sight), 403)

const today = () => ({ from: utcDay(Date.now()), to: utcDay(Date.now()) })

const look = async (view: View): Promise<Seen> => {
  const { gateway, sight } = view
  const health = await healthOf(view)
  const [measured, listing, models] = await Promise.all([
    unlessAway(health, sight.measures ? readings(gateway) : Promise.resolve(null), null),
    unlessAway(
      health,
      sight.administers ? wholeList<Usage>(gateway, '/admin/usage', 'usage', today()) : Promise.resolve(null),
      null,
    ),
    unlessAway(health, listed(view), []),
  ])
  return { health, measured, usage: listing?.rows ?? null, models }
}

const troubles = ({ health, measured }: Seen): HTMLElement => {
  const all = troublesOf({
    ...health,
    samples: measured?.now.samples ?? [],
    backends: measured?.backends ?? [],
    earlier: measured?.earlier ?? [],
  })
  if (all.length === 0) return el('p', { class: 'fine' }, 'Ready. Nothing is wrong now.')
  return el(
    'ul',
    { class: 'troubles' },
    all.map(({ grave, words }) => el('li', { class: grave ? 'grave' : 'mild' }, words)),
  )
}

const figures = ({ measured, usage, models }: Seen): HTMLElement => {
  if (measured === null && usage === null && models === null)
    return note('This key may read no figures and no list of models.')
  const traffic = measured?.traffic ?? null
  const sum = usage && sumOf(usage)
  const [tightest = null] = budgetsOf(measured?.now.samples ?? [])
  const waiting = 'known after the second reading'
  const share = (it: number | null | undefined) => (it == null ? '–' : percent(it))
  return tiles(
    measured &&
      tile('Per second', traffic ? decimal(traffic.perSecond) : '–', traffic ? 'requests in the last minute' : waiting),
    measured && tile('Failed', share(traffic?.failed), 'of requests in the last minute'),
    measured && tile('Sealed', share(traffic?.sealed), 'of requests in the last minute'),
    sum && tile('Requests today', count(sum.requests), `${count(sum.input + sum.output)} tokens`),
    sum && costTile('Cost today', sum),
    tightest && tile('Budget', percent(tightest.share), `${tightest.holder}, ${tightest.period}`),
    models && tile('Models', count(models.length), 'for this key'),
  )
}

/** What is still to do until a real backend has answered; null afterwards. */
const steps = ({ gateway, sight }: View, { measured, models }: Seen): HTMLElement | null => {
  if (measured === null || measured.backends.some(({ answered }) => answered > 0)) return null
  const step = (done: boolean, ...words: readonly Child[]) =>
    el('li', { class: done ? 'done' : null }, done ? el('span', { class: 'unseen' }, 'Done: ') : null, words)
  return section(
    'First steps',
    el(
      'ol',
      { class: 'steps' },
      models !== null && step(models.length > 0, 'Name a provider in the configuration, so that models are listed.'),
      step(false, sight.administers ? [link('Make a key for an app', '#/keys/new'), '.'] : 'Get a key for an app.'),
      step(false, 'Send a request to ', el('code', {}, gateway.base), '. Its backend then appears here.'),
    ),
  )
}

const tables = (view: View, { measured, usage }: Seen): readonly HTMLElement[] => [
  ...(measured === null ? [] : [backendTable(view.gateway.base, measured.backends, measured.earlier)]),
  ...(usage === null
    ? []
    : [
        usageTable({
          title: 'Models used today',
          file: `usage-${utcDay(Date.now())}`,
          by: 'Model',
          rows: [...sumsBy(usage, ({ model }) => model)].map(([name, sum]) => ({ name, sum })),
          curl: curlOf(view.gateway.base, pathOf('/admin/usage', { ...today(), limit: 100 })),
        }),
      ]),
]

export const home: Page = {
  name: 'home',
  title: 'Home',
  sees: () => true,
  async show(view) {
    const [now, rest] = [el('div', { class: 'stack', 'aria-live': 'polite' }), stack()]
    const told = el('span', { class: 'told' })
    const draw = (seen: Seen): void => {
      renew(now, section('Now', troubles(seen)))
      const first = steps(view, seen)
      renew(rest, figures(seen), ...(first === null ? [] : [first]), ...tables(view, seen))
      told.textContent = `Read at ${clockTime(Date.now())}`
    }
    const again = async (): Promise<void> => {
      const seen = await look(view).catch((error: unknown) => {
        if (!view.signal.aborted) told.textContent = 'The last reading failed'
        if (error instanceof Refused && error.status === 401) view.leave(error)
        return null
      })
      if (seen !== null && !view.signal.aborted) draw(seen)
    }
    draw(await look(view))
    every(pace, view.signal, again)
    return [
      heading(
        'Home',
        told,
        button('Read again', () => void again(), 'quiet'),
      ),
      now,
      rest,
      note(`Times are those of ${zone()}. Days of usage are days of UTC.`),
    ]
  },
}
