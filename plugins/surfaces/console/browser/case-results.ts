import { type CaseFigures, certainty } from './case-figures.ts'
import { el } from './element.ts'
import { cost, costWords, count, decimal, percent } from './format.ts'
import { note, section } from './parts.ts'
import { reliabilityPlot, reliabilityTable } from './reliability.ts'
import { figure, table } from './table.ts'

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
export const caseResults = (all: readonly CaseFigures[], errors: number, curl: string): readonly HTMLElement[] => {
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
