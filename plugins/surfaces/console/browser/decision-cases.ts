import { type CaseFigures, caseFigures, certainty } from './case-figures.ts'
import { runCases } from './case-run.ts'
import type { Decided } from './decision-answers.ts'
import { type Draft, bodyOf } from './decision-draft.ts'
import { el, div } from './element.ts'
import { count, percent, cost, costWords, decimal } from './format.ts'
import { type Gateway, Refused, curlOf } from './gateway.ts'
import { UnreadCases, casesOf, mostBytes, mostCases } from './labelled-cases.ts'
import { pause } from './page.ts'
import { button, field, refusal, section, stack, toldPlace, warning, select, note } from './parts.ts'
import type { Listed } from './sight.ts'
import { reliabilityPlot, reliabilityTable } from './reliability.ts'
import { figure, table } from './table.ts'

export interface CaseBench {
  readonly gateway: Gateway
  readonly path: string
  /** Aborts when the reader leaves. */
  readonly signal: AbortSignal
  read(): { readonly draft: Draft; readonly models: readonly Listed[] }
  /** Hears the threshold of the first model; null where none keeps the promise. */
  found(threshold: number | null): void
  leave(why: Error): void
}

/** Shares of the answers taken that may be wrong. */
const shares = [0.01, 0.02, 0.05, 0.1, 0.2] as const
const usualShare = 0.05

interface Told {
  readonly signal: AbortSignal
  /** Hears how many of how many cases are over. */
  progress(done: number, all: number): void
  /** Hears the figures of a model. */
  judged(figures: CaseFigures): void
}

/** Asks each model about each case. A reader who stops gets the figures of the answers so far. */
const askAll = async (
  bench: CaseBench,
  text: string,
  place: number,
  errors: number,
  { signal, progress, judged }: Told,
): Promise<void> => {
  const { draft, models } = bench.read()
  const question = draft.questions[place]
  if (question === undefined) throw new UnreadCases('There is no such question.')
  const cases = casesOf(text, question)
  let done = 0
  progress(done, cases.length * models.length)
  for (const model of models) {
    const ask = ({ state }: { readonly state: string }) =>
      bench.gateway.post<Decided>(
        bench.path,
        bodyOf({ ...draft, state, isJson: false, questions: [question] }, model.model),
        signal,
      )
    const heard = () => progress(++done, cases.length * models.length)
    const run = await runCases({ cases, ask, heard, wait: (ms) => pause(ms, signal) }, signal)
    const figures = caseFigures(model, run, question, errors)
    if (figures !== null) judged(figures)
  }
}

const faultOf = (error: unknown): HTMLElement =>
  error instanceof UnreadCases ? warning(error.message) : refusal(error)

const textOf = async (input: HTMLInputElement): Promise<string> => {
  const file = input.files?.[0]
  if (file === undefined) throw new UnreadCases('No file is chosen.')
  if (file.size > mostBytes) throw new UnreadCases(`The file has more than ${mostBytes / 1024 / 1024} MiB.`)
  return file.text().catch(() => {
    throw new UnreadCases('The file was changed or moved since. Choose the file again.')
  })
}

interface Inputs {
  readonly file: HTMLInputElement
  readonly question: HTMLSelectElement
  readonly errors: HTMLSelectElement
}

/** The fields, and a way to name the questions anew. */
const inputsOf = () => {
  const file = el('input', { type: 'file', accept: '.csv,text/csv' })
  const question = el('select')
  const errors = select(
    {},
    shares.map((share) => [share, percent(share)]),
    usualShare,
  )
  const root = div(
    'pair',
    field('File', `A CSV with the columns state and answer; up to ${count(mostCases)} cases.`, file),
    field('Question', 'Each case is asked it alone.', question),
    field('Errors', 'So many of the answers taken may be wrong.', errors),
  )
  const name = (ids: readonly string[]): void => {
    const { value } = question
    question.replaceChildren(...ids.map((id, at) => el('option', { value: at, selected: String(at) === value }, id)))
  }
  return { root, name, inputs: { file, question, errors } satisfies Inputs }
}

/** Labelled cases, read in this tab, and what they say of the models. */
export const decisionCases = (bench: CaseBench): { readonly root: HTMLElement; draw(): void } => {
  const { root, name, inputs } = inputsOf()
  const told = toldPlace()
  const bar = el('progress', { 'aria-label': 'Cases asked', hidden: true })
  const region = stack()
  let stopping = new AbortController()
  const stop = button('Stop', () => stopping.abort())
  const begin = button('Ask the cases', () => askCases(), 'main')
  stop.disabled = true
  const progress = (done: number, all: number): void => {
    bar.max = all
    bar.value = done
    // A reader of a screen hears every tenth part.
    if (done % Math.max(1, Math.round(all / 10)) === 0 || done === all)
      told.textContent = `${count(done)} of ${count(all)}`
  }
  const play = async (signal: AbortSignal): Promise<void> => {
    const errors = Number(inputs.errors.value)
    const { draft, models } = bench.read()
    const curl = curlOf(bench.gateway.base, bench.path, 'POST', bodyOf(draft, models[0]?.model ?? ''))
    const all: CaseFigures[] = []
    const judged = (figures: CaseFigures): void => {
      if (bench.signal.aborted) return
      if (all.push(figures) === 1) bench.found(all[0]?.promise?.confidence ?? null)
      region.replaceChildren(...caseResults(all, errors, curl))
    }
    const told = { signal, progress, judged }
    await askAll(bench, await textOf(inputs.file), Number(inputs.question.value), errors, told)
  }
  const askCases = async (): Promise<void> => {
    stopping = new AbortController()
    region.replaceChildren()
    stop.disabled = false
    bar.hidden = false
    await play(AbortSignal.any([bench.signal, stopping.signal])).catch((error: unknown) => {
      if (bench.signal.aborted) return
      if (error instanceof Refused && error.status === 401) return bench.leave(error)
      region.prepend(faultOf(error))
    })
    if (stopping.signal.aborted) told.textContent = `Stopped after ${count(bar.value)} of ${count(bar.max)}`
    stop.disabled = true
    bar.hidden = true
  }
  const card = section('Labelled cases', root, div('actions', begin, stop, bar, told))
  return {
    root: stack(card, region),
    draw: () => name(bench.read().draft.questions.map(({ id }) => id)),
  }
}

const figureTable = (all: readonly CaseFigures[], curl: string): HTMLElement =>
  table<CaseFigures>({
    title: 'Accuracy',
    file: 'accuracy',
    curl,
    empty: 'No case was answered.',
    rows: all,
    columns: [
      { head: 'Model', value: ({ model }) => model },
      figure('Cases', ({ answered }) => answered, count),
      figure('Unanswered', ({ unanswered }) => unanswered, count),
      figure('Accuracy', ({ accuracy }) => accuracy, percent),
      figure('ECE', ({ ece }) => ece, decimal),
      figure('by chance', ({ byChance }) => byChance, decimal),
      figure('Excess', ({ excess }) => excess, decimal),
      figure('Brier', ({ brier }) => brier, decimal),
      {
        head: 'Threshold',
        value: ({ promise }) => promise?.confidence ?? null,
        show: ({ promise }) => (promise === null ? 'none' : promise.confidence),
        number: true,
      },
      figure('Taken', ({ promise }) => promise?.automated ?? null, percent),
      {
        head: costWords(),
        value: (figures) => figures.cost,
        show: (figures) => (figures.cost === null ? el('span', { class: 'unpriced' }, 'unpriced') : cost(figures.cost)),
        number: true,
      },
    ],
  })

const promiseOf = ({ model, promise }: CaseFigures, errors: number): HTMLElement => {
  const sure = `with ${percent(certainty)} certainty`
  return el(
    'li',
    {},
    el('b', {}, model),
    promise === null
      ? `: no confidence keeps errors at ${percent(errors)} or below, ${sure}. More cases may.`
      : `: of answers with a confidence of at least ${promise.confidence}, at most ${percent(errors)} are wrong, ${sure}. ` +
          `That is ${percent(promise.automated)} of all, of which ${percent(promise.wrong)} were wrong.`,
  )
}

/** What labelled cases say of each model, with the plot and its table. */
const caseResults = (all: readonly CaseFigures[], errors: number, curl: string): readonly HTMLElement[] => {
  const escalated = all.reduce((sum, figures) => sum + figures.escalated, 0)
  return [
    section(
      'Threshold',
      el(
        'ul',
        { class: 'list' },
        all.map((figures) => promiseOf(figures, errors)),
      ),
    ),
    ...(escalated === 0
      ? []
      : [note(`${count(escalated)} answers are those of a larger model. A named backend is judged alone.`)]),
    figureTable(all, curl),
    section('Claim and truth', reliabilityPlot(all)),
    reliabilityTable(all, curl),
  ]
}
