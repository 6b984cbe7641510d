import type { Backing, Chained, Link } from '../answers.ts'
import { backingDetail } from '../backing-detail.ts'
import type { Child } from '../element.ts'
import { count, cost, costWords, percent } from '../format.ts'
import { curlOf, pathOf, wholeList } from '../gateway.ts'
import { type Page, type View, every, reading, renew } from '../page.ts'
import { badge, heading, link, note, stack, toldPlace } from '../parts.ts'
import { type PriceKind, priceOf } from '../prices.ts'
import { type Listed, modelPaths, modelsOf } from '../sight.ts'
import { type Column, table, figure, linked, lamp } from '../table.ts'
import { weightsForm } from '../weights.ts'
import { ageOf, faultsOf, lampOf } from '../backing.ts'
import { timeOf } from '../running.ts'

/** Ms between two readings. */
const pace = 5_000

const price = (head: string, kind: PriceKind): Column<Listed> => ({
  head,
  value: (listed) => priceOf(listed, kind),
  number: true,
})

const kinds: Readonly<Record<string, string>> = {
  CHAT: 'chat',
  AUDIO_TRANSCRIPTION: 'transcription',
  AUDIO_SPEECH: 'speech',
  IMAGE: 'images',
}

const kindOf = ({ described, decides }: Listed): string => kinds[described?.type ?? ''] ?? (decides ? 'decisions' : '–')

const ways = ({ clear, sealed, decides }: Listed): readonly string[] => [
  ...(clear ? ['in the clear'] : []),
  ...(sealed ? ['sealed'] : []),
  ...(decides ? ['decisions'] : []),
]

const shownWays = (listed: Listed): Child =>
  ways(listed).map((way) => [badge(way === 'sealed' ? 'accent' : 'plain', way), ' '])

const modelTable = (listed: readonly Listed[], curl: string): HTMLElement =>
  table<Listed>({
    title: 'Models',
    file: 'models',
    rows: listed,
    curl,
    empty: 'This key may use no model, or none is configured.',
    columns: [
      { head: 'Model', value: ({ model }) => model },
      { head: 'Kind', value: kindOf },
      { head: 'Served', value: (listed) => ways(listed).join(', '), show: shownWays },
      { head: 'Owner', value: ({ described }) => described?.owned_by || null },
      { head: 'Regions', value: ({ described }) => described?.regions.join(', ') || null },
      price('Input, per 1k', 'prompt_price_per_k'),
      price('Output, per 1k', 'completion_price_per_k'),
    ],
  })

interface Operated {
  readonly chains: readonly Chained[]
  /** More than `chains` where the list is longer than the console reads. */
  readonly total: number
  readonly backends: readonly Backing[]
  readonly processes: number
  /** Unix time in ms. */
  readonly at: number
}

const operatedOf = async ({ gateway }: View): Promise<Operated> => {
  const [{ rows, total }, { backends, processes }] = await Promise.all([
    wholeList<Chained>(gateway, '/admin/models', 'models', {}, 5),
    gateway.ask<Pick<Operated, 'backends' | 'processes'>>('GET', '/admin/backends'),
  ])
  return { chains: rows, total, backends, processes, at: Date.now() }
}

/** The tables of operators, which renew themselves. */
const operatedTables = async (view: View, told: HTMLElement): Promise<readonly Child[]> => {
  const { gateway, signal } = view
  const [states, chains] = [stack(), stack()]
  let read = await operatedOf(view)
  const draw = async (): Promise<void> => {
    const now = Date.now()
    renew(states, backingTable(read.backends, curlOf(gateway.base, '/admin/backends'), now - read.at, now))
  }
  let drawn = ''
  /** Hundreds of chains take the browser long, and seldom change. */
  const drawChains = (): void => {
    const data = JSON.stringify([read.chains, read.backends.map(({ backend, breakers }) => [backend, breakers])])
    if (data === drawn) return
    const curl = curlOf(gateway.base, pathOf('/admin/models', { limit: 100 }))
    if (renew(chains, chainTable(read.chains, read.backends, curl))) drawn = data
  }
  const again = async (): Promise<void> => {
    read = await operatedOf(view)
    await draw()
    drawChains()
  }
  void draw()
  drawChains()
  every(pace, signal, reading(view, told, again))
  every(1_000, signal, draw)
  const { processes, total } = read
  return [
    states,
    chains,
    total > read.chains.length && note(`The chains of the first ${count(read.chains.length)} models are shown.`),
    note(
      processes === 1
        ? 'Calls, times and use are those of this process since its start. '
        : `Calls, times and use are those of ${processes} processes since their start; a breaker that rests in one rests here. `,
      'The enclave’s own backends are not seen from here.',
    ),
  ]
}

const overview = async (view: View): Promise<readonly Child[]> => {
  const { gateway, sight } = view
  const told = toldPlace()
  const [listed, operated] = await Promise.all([
    modelsOf(gateway, sight),
    sight.operates ? operatedTables(view, told) : Promise.resolve([note('Backends are shown to operators.')]),
  ])
  const paths = modelPaths(sight.links)
  const path = paths['standard'] ?? paths['openai'] ?? paths['confidential'] ?? paths['decisions'] ?? '/'
  const lines = sight.steers && link('New model or backend', '#/settings/lines')
  return [heading('Models and backends', told, lines), operated, modelTable(listed, curlOf(gateway.base, path))]
}

const weights = async (view: View, name: string): Promise<readonly Child[]> => {
  const { rows } = await wholeList<Chained>(view.gateway, '/admin/models', 'models')
  const row = rows.find(({ model }) => model === name)
  return row === undefined ? [heading('Not here'), note('There is no such model.')] : weightsForm(view, row)
}

export const models: Page = {
  name: 'models',
  title: 'Models',
  sees: () => true,
  async show(view) {
    const [what, name] = view.path
    if (!view.sight.operates || name === undefined) return overview(view)
    return what === 'backend' ? backingDetail(view, name) : weights(view, name)
  },
}

/** Each backend as it stands; `passed` is ms since it was read. */
const backingTable = (rows: readonly Backing[], curl: string, passed: number, now: number): HTMLElement =>
  table<Backing>({
    title: 'Backends',
    file: 'backends',
    rows,
    curl,
    empty: 'No backend is configured.',
    columns: [
      linked(
        'Backend',
        ({ backend }) => backend,
        (backend) => `#/models/backend/${encodeURIComponent(backend)}`,
      ),
      {
        head: 'Breaker',
        value: ({ state }) => state,
        show: (backing) => badge(lampOf(backing, passed).kind, lampOf(backing, passed).words),
      },
      { head: 'Faults of the last 20', value: faultsOf },
      figure('p50', (backing) => backing.p50_ms, timeOf),
      figure('p95', (backing) => backing.p95_ms, timeOf),
      figure('First token, p50', (backing) => backing.first_token_p50_ms, timeOf),
      {
        head: 'Age of its list',
        value: (backing) => backing.listed_at,
        show: (backing) => ageOf(backing, now),
        number: true,
      },
      figure('Requests', ({ used }) => used.requests, count),
      {
        head: 'Tokens in / out',
        value: ({ used }) => `${used.input} / ${used.output}`,
        show: ({ used }) => `${count(used.input)} / ${count(used.output)}`,
        number: true,
      },
      {
        head: costWords(),
        value: ({ used }) => used.cost,
        show: ({ used }) => (used.cost === null ? 'unpriced' : cost(used.cost)),
        number: true,
      },
    ],
  })

interface Row extends Link {
  readonly of: string
  /** The place in the chain, from 1. */
  readonly place: number
  /** Of the calls of its priority, from 0 to 1; null where all weigh nothing. */
  readonly share: number | null
}

/** The links of all chains in their order, each with its share among those of its priority. */
export const linksOf = (models: readonly Chained[]): readonly Row[] =>
  models.flatMap(({ model: of, chain }) =>
    chain.map((link, at) => {
      const equals = chain.filter(({ priority }) => priority === link.priority)
      const sum = equals.reduce((sum, { weight }) => sum + weight, 0)
      return { ...link, of, place: at + 1, share: sum === 0 ? null : link.weight / sum }
    }),
  )

const breakerOf = ({ backend, model }: Row, backends: readonly Backing[]) => {
  const breaker = backends
    .find((backing) => backing.backend === backend)
    ?.breakers.find((other) => other.model === model)
  return lampOf(breaker ?? { state: 'closed', rest_ms: 0 }, 0)
}

const chainTable = (models: readonly Chained[], backends: readonly Backing[], curl: string): HTMLElement =>
  table<Row>({
    title: 'Chains',
    file: 'chains',
    rows: linksOf(models),
    curl,
    empty: 'No model has a backend on this side of the enclave.',
    columns: [
      linked(
        'Model',
        ({ of }) => of,
        (model) => `#/models/weights/${encodeURIComponent(model)}`,
      ),
      { head: 'Place', value: ({ place }) => place, number: true },
      linked(
        'Backend',
        ({ backend }) => backend,
        (backend) => `#/models/backend/${encodeURIComponent(backend)}`,
      ),
      { head: 'Backend’s model', value: ({ model }) => model },
      lamp('Breaker', (row) => breakerOf(row, backends)),
      { head: 'Priority', value: ({ priority }) => priority, number: true },
      { head: 'Weight', value: ({ weight }) => weight, number: true },
      figure('Share', ({ share }) => share, percent),
      { head: 'Context', value: (row) => row.context_tokens, number: true },
    ],
  })
