import { type Decided, decisionCost, isEscalated, opinionOf } from './decision-answers.ts'
import { type Draft, type DraftQuestion, labelsOf } from './decision-draft.ts'
import { type Child, el, svg, div } from './element.ts'
import { cost, costWords, count, decimal, percent } from './format.ts'
import { badge, refusal, section } from './parts.ts'
import { timeOf } from './running.ts'
import type { Listed } from './sight.ts'
import { figure, table } from './table.ts'

/** What came of asking one model. */
export interface AskedModel {
  readonly listed: Listed
  readonly decided: Decided | null
  /** Null where it decided. */
  readonly fault: unknown
}

type Answered = AskedModel & { readonly decided: Decided }

const isAnswered = (model: AskedModel): model is Answered => model.decided !== null

const shownName = (question: DraftQuestion, label: string, at: number): string =>
  question.type === 'score' && question.options[at]?.meaning ? `${label}: ${question.options[at].meaning}` : label

const bar = (name: string, share: number): readonly Child[] => [
  el('span', { class: 'label' }, name),
  svg(
    'svg',
    { 'aria-hidden': 'true', width: '100%', height: 14 },
    svg('rect', { width: '100%', height: 14, rx: 2, class: 'rail' }),
    svg('rect', { width: `${share * 100}%`, height: 14, rx: 2, class: 'solid' }),
  ),
  el('span', { class: 'number' }, percent(share)),
]

/** The probabilities of one model for one question. */
const barsOf = (question: DraftQuestion, { listed, decided }: Answered): HTMLElement => {
  const { said: answerWord, probabilities, confidence, unreliable } = opinionOf(question, decided)
  return el(
    'figure',
    { class: 'bars' },
    el(
      'figcaption',
      {},
      el('span', { class: 'note' }, listed.model),
      el('b', {}, answerWord),
      el('span', {}, `confidence ${decimal(confidence)}`),
      unreliable && badge('mixed', 'unreliable'),
    ),
    labelsOf(question).map((label, at) => bar(shownName(question, label, at), probabilities[at] ?? 0)),
  )
}

interface Row {
  readonly question: string
  readonly label: string
  /** By the place of the model. */
  readonly shares: readonly number[]
}

/** The table of the bars: all labels of all questions, with a column for each model. */
const probabilityTable = (draft: Draft, answered: readonly Answered[], curl: string): HTMLElement => {
  const columns = answered.map(({ listed }, at) =>
    figure<Row>(listed.model, ({ shares }) => shares[at] ?? null, percent),
  )
  return table<Row>({
    title: 'Probabilities',
    file: 'decision',
    curl,
    empty: 'No model answered.',
    rows: draft.questions.flatMap((question) => {
      const opinions = answered.map(({ decided }) => opinionOf(question, decided).probabilities)
      return labelsOf(question).map((label, at) => ({
        ...{ question: question.id, label: shownName(question, label, at) },
        shares: opinions.map((shares) => shares[at] ?? 0),
      }))
    }),
    columns: [
      { head: 'Question', value: ({ question }) => question },
      { head: 'Answer', value: ({ label }) => label, show: ({ label }) => el('span', { class: 'name' }, label) },
      ...columns,
    ],
  })
}

const remarksOf = (decided: Decided): string => {
  const { escalated, ignored = [], calibration } = decided.diagnostics
  return [
    ...(escalated === undefined
      ? []
      : [isEscalated(decided) ? `escalated to ${escalated.model}` : 'the escalation failed']),
    ...(ignored.length === 0 ? [] : [`ignores ${ignored.join(' and ')}`]),
    ...(calibration === undefined ? [] : [`calibrated by ${calibration}`]),
  ].join('; ')
}

const callTable = (answered: readonly Answered[], curl: string): HTMLElement =>
  table<Answered>({
    title: 'Calls',
    file: 'decision-calls',
    curl,
    empty: 'No model answered.',
    rows: answered,
    columns: [
      { head: 'Model', value: ({ listed }) => listed.model },
      {
        head: costWords(),
        value: ({ listed, decided }) => decisionCost(listed, decided),
        show: ({ listed, decided }) => {
          const price = decisionCost(listed, decided)
          return price === null ? el('span', { class: 'unpriced' }, 'unpriced') : cost(price)
        },
        number: true,
      },
      {
        head: 'Tokens in / out',
        value: ({ decided: { usage } }) => `${usage.input_tokens} / ${usage.output_tokens}`,
        show: ({ decided: { usage } }) => `${count(usage.input_tokens)} / ${count(usage.output_tokens)}`,
        number: true,
      },
      figure('Time', ({ decided }) => decided.diagnostics.timing_ms, timeOf),
      { head: 'Reads', value: ({ decided }) => decided.diagnostics.reads, number: true },
      { head: 'Backend', value: ({ decided }) => decided.diagnostics.backend },
      { head: 'Engine', value: ({ decided }) => decided.diagnostics.engine },
      { head: 'Remarks', value: ({ decided }) => remarksOf(decided) },
    ],
  })

/** What models said to the same questions, side by side. */
export const decisionResults = (draft: Draft, models: readonly AskedModel[], curl: string): readonly HTMLElement[] => {
  const answered = models.filter(isAnswered)
  const refused = models.filter(({ decided }) => decided === null)
  return [
    ...refused.map(({ listed, fault }) => section(listed.model, refusal(fault))),
    ...(answered.length === 0
      ? []
      : [
          ...draft.questions.map((question) =>
            section(
              question.id,
              div(
                'sides',
                answered.map((model) => barsOf(question, model)),
              ),
            ),
          ),
          probabilityTable(draft, answered, curl),
          callTable(answered, curl),
        ]),
  ]
}
