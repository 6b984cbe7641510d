import type { Chained } from '../answers.ts'
import {
  type DrillBegins,
  type DrillRun,
  type DrillScene,
  changeWords,
  drillMarks,
  drillRows,
  drillRuns,
  markCounts,
} from '../drill-run.ts'
import { drillTable } from '../drill-table.ts'
import { el, div } from '../element.ts'
import { count, counted } from '../format.ts'
import { Refused, curlOf, pathOf, wholeList } from '../gateway.ts'
import { type Page, type View, every, renew } from '../page.ts'
import {
  button,
  field,
  heading,
  note,
  refusal,
  section,
  stack,
  tile,
  tiles,
  toldPlace,
  warning,
  select,
} from '../parts.ts'

const path = '/admin/drill'
/** Ms between two looks at a scorecard that its reader was in the middle of. */
const pace = 1_000

const meanings = {
  pass: 'the whole answer, or the truth',
  partial: 'right in the main',
  safe: 'not delivered, and said so',
  fail: 'wrong, or silent about it',
} as const

const chainWords = ({ backends, retries, continues }: DrillBegins): string =>
  `${backends === 1 ? 'One backend' : `${count(backends)} backends`}, ${counted(retries, 'retry', 'retries')}; ` +
  `a broken stream ${continues ? 'may be gone on with' : 'is not gone on with'}.`

/** The run, with its difference to the one before as soon as it is over. */
const shownRun = (run: DrillRun | null, isPlaying: boolean, curl: string): readonly HTMLElement[] => {
  if (run === null) return [drillTable([], curl)]
  const counts = markCounts(run)
  const words = changeWords(run).map((word) => el('li', {}, word))
  return [
    tiles(...drillMarks.map((mark) => tile(mark, count(counts[mark]), meanings[mark]))),
    section('This run', note(chainWords(run.begins)), !isPlaying && el('ul', { class: 'list' }, words)),
    drillTable(drillRows(run), curl, isPlaying),
  ]
}

/** Thrown where the gateway ends a drill before its end. */
class BrokenOff extends Error {}

/** Plays a drill to its end, and tells of each step. */
const played = async (view: View, model: string, until: AbortSignal, told: (run: DrillRun) => void): Promise<void> => {
  let run: DrillRun | null = null
  for await (const { event, data } of view.gateway.events(path, { model }, until)) {
    const message: unknown = JSON.parse(data)
    if (event === 'begins') run = drillRuns.begun(message as DrillBegins, Date.now())
    if (run === null || event === 'error') continue
    if (event === 'ended') return drillRuns.keep(run)
    if (event === 'scene') {
      const scene = message as DrillScene
      run = { ...run, results: new Map(run.results).set(scene.scene, scene) }
    }
    told(run)
  }
  throw new BrokenOff('The drill broke off.')
}

interface Steered {
  /** Plays until the signal fires, and tells how many of how many scenes are over. */
  play(until: AbortSignal, progress: (done: number, all: number) => void): Promise<void>
  turned(isPlaying: boolean): void
}

/** The buttons of a drill, with its progress and its end. */
const steering = (view: View, { play, turned }: Steered): readonly HTMLElement[] => {
  const { signal } = view
  const told = toldPlace()
  const bar = el('progress', { 'aria-label': 'Scenes played' })
  const place = stack()
  let stopping = new AbortController()
  const turn = (isPlaying: boolean): void => {
    const [from, to] = isPlaying ? [begin, stop] : [stop, begin]
    const hadFocus = document.activeElement === from
    begin.disabled = isPlaying
    stop.disabled = bar.hidden = !isPlaying
    if (hadFocus) to.focus()
    turned(isPlaying)
  }
  const progress = (done: number, all: number): void => {
    bar.max = all
    bar.value = done
  }
  const failed = (error: unknown): string => {
    if (stopping.signal.aborted) return `Stopped after ${bar.value} of ${bar.max}`
    if (error instanceof Refused && error.status === 401) view.leave(error)
    place.replaceChildren(error instanceof BrokenOff ? warning(error.message) : refusal(error))
    return 'Not played to its end'
  }
  const begun = async (): Promise<void> => {
    stopping = new AbortController()
    place.replaceChildren()
    told.textContent = 'Playing'
    progress(0, 1)
    turn(true)
    const end = await play(AbortSignal.any([signal, stopping.signal]), progress).then(
      () => 'Played to its end',
      (error: unknown) => (signal.aborted ? '' : failed(error)),
    )
    if (signal.aborted) return
    told.textContent = end
    turn(false)
  }
  const begin = button('Start', () => void begun(), 'main')
  const stop = button('Stop', () => stopping.abort())
  turn(false)
  return [div('actions', begin, stop, bar, told), place]
}

const drawn = (view: View, models: readonly string[]): readonly HTMLElement[] => {
  const { gateway, signal, query } = view
  const region = stack()
  const wanted = query.get('model')
  const choice = select(
    { on: { change: () => chosen() } },
    models.map((model) => [model, model]),
    wanted,
  )
  let run = drillRuns.last(choice.value)
  let isPlaying = false
  const draw = async (): Promise<void> =>
    void renew(region, ...shownRun(run, isPlaying, curlOf(gateway.base, path, 'POST', { model: choice.value })))
  const chosen = (): void => {
    run = drillRuns.last(choice.value)
    history.replaceState(history.state, '', pathOf('#/drill', { model: choice.value }))
    void draw()
  }
  const steers = steering(view, {
    play: (until, progress) =>
      played(view, choice.value, until, (played) => {
        run = played
        progress(played.results.size, played.begins.scenes.length)
        void draw()
      }),
    turned(now) {
      isPlaying = now
      choice.disabled = now
      void draw()
    },
  })
  every(pace, signal, draw)
  const words = 'Its chain, retries, breakers and limits of time are those of the running configuration.'
  return [section('Play', div('pair', field('Model', words, choice)), steers), region]
}

export const drill: Page = {
  name: 'drill',
  title: 'Drill',
  sees: ({ steers }) => steers,
  async show(view) {
    const { rows } = await wholeList<Chained>(view.gateway, '/admin/models', 'models')
    const models = rows.filter(({ type, standard, chain }) => type === 'CHAT' && standard && chain.length > 0)
    if (models.length === 0)
      return [heading('Drill'), note('A drill plays with a chat model in the clear, and there is none.')]
    return [
      heading('Drill'),
      drawn(
        view,
        models.map(({ model }) => model),
      ),
      note(
        'Scripted backends take the places of the real ones, in a gateway of its own. No backend, store, budget or log ' +
          'of this gateway is touched, and one drill plays at a time in a process. The last run of each model is kept in this tab.',
      ),
    ]
  },
}
