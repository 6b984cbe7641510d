import type { Draft, DraftQuestion, QuestionType } from './decision-draft.ts'
import { emptyOptions } from './decision-templates.ts'
import { el, div } from './element.ts'
import { button, field, stack, folded, select } from './parts.ts'
import { type OptionRows, optionRows } from './option-rows.ts'

export interface DecisionForm {
  readonly root: HTMLElement
  read(): Draft
  put(draft: Draft): void
}

const mostQuestions = 16

/** The questions under each other, with a button for one more. */
const questionList = (changed: () => void) => {
  let forms: readonly QuestionForm[] = []
  const place = stack()
  const read = (): readonly DraftQuestion[] => forms.map((form) => form.read())
  const put = (questions: readonly DraftQuestion[]): void => {
    const remove = (at: number) => () => {
      put(read().filter((_, other) => other !== at))
      add.focus()
    }
    forms = questions.map((question, at) =>
      questionForm(question, at, changed, questions.length > 1 ? remove(at) : null),
    )
    place.replaceChildren(...forms.map(({ root }) => root))
    add.disabled = questions.length >= mostQuestions
    changed()
  }
  const add = button('Add a question', () => {
    const all = read()
    const isFree = (id: string): boolean => all.every((question) => question.id !== id)
    let number = all.length + 1
    while (!isFree(`question${number}`)) number++
    const id = `question${number}`
    put([...all, { id, type: 'choice', instructions: '', options: emptyOptions('choice') }])
    forms.at(-1)?.root.querySelector('input')?.focus()
  })
  return { root: stack(place, div('actions', add)), read, put }
}

const numberOf = ({ value }: HTMLInputElement): number | null => (value === '' ? null : Number(value))

/** State and questions as the reader writes them; they stand in these fields alone. */
export const decisionForm = (changed: () => void): DecisionForm => {
  const on = { input: changed }
  const questions = questionList(changed)
  const isJson = el('input', { type: 'checkbox', on: { change: changed } })
  const whole = (max: number) => el('input', { type: 'number', min: 1, max, step: 1, on })
  const [samples, steps] = [whole(32), whole(8)]
  const provider = el('input', { autocomplete: 'off', spellcheck: 'false', on })
  const state = el('textarea', { id: 'state', rows: 4, spellcheck: 'false', on })
  const root = stack(
    div('field', el('label', { for: 'state' }, 'State'), state),
    el('label', { class: 'check' }, isJson, 'The state is JSON'),
    questions.root,
    folded(
      'More accuracy',
      div(
        'pair',
        field('Samples', 'Reads, each with its labels in another order.', samples),
        field('Steps', 'Denoising steps, for models that know them.', steps),
        field('Backend', 'One of the model’s. Its answers are not escalated.', provider),
      ),
    ),
  )
  return {
    root,
    read: () => ({
      ...{ state: state.value, isJson: isJson.checked, questions: questions.read(), provider: provider.value.trim() },
      ...{ samples: numberOf(samples), steps: numberOf(steps) },
    }),
    put(draft) {
      state.value = draft.state
      isJson.checked = draft.isJson
      samples.value = draft.samples === null ? '' : String(draft.samples)
      steps.value = draft.steps === null ? '' : String(draft.steps)
      provider.value = draft.provider
      questions.put(draft.questions)
    },
  }
}

interface QuestionForm {
  readonly root: HTMLElement
  read(): DraftQuestion
}

const types: readonly (readonly [type: QuestionType, words: string])[] = [
  ['choice', 'choice: which of these?'],
  ['noul', 'noul: yes or no?'],
  ['score', 'score: how much?'],
]

const isType = (name: string): name is QuestionType => types.some(([type]) => type === name)

/** One question; `remove` is null for the only one. */
const questionForm = (
  given: DraftQuestion,
  place: number,
  changed: () => void,
  remove: (() => void) | null,
): QuestionForm => {
  let type = given.type
  let rows: OptionRows = optionRows(type, given.options, changed)
  const options = el('div', {}, rows.root)
  const on = { input: changed }
  const id = el('input', { value: given.id, autocomplete: 'off', spellcheck: 'false', on })
  const instructions = el('input', { value: given.instructions, autocomplete: 'off', on })
  const turn = (next: string): void => {
    if (!isType(next)) return
    type = next
    rows = optionRows(type, emptyOptions(type), changed)
    options.replaceChildren(rows.root)
    changed()
  }
  const choice = select({ on: { change: () => turn(choice.value) } }, types, type)
  const root = el(
    'fieldset',
    { class: 'question' },
    el('legend', {}, `Question ${place + 1}`),
    div('pair', field('Id', 'The answer has this name.', id), field('Type', 'What is asked for.', choice)),
    field('Instructions', 'The question itself.', instructions),
    options,
    remove !== null && div('actions', button('Remove the question', remove, 'quiet')),
  )
  return {
    root,
    read: () => ({ id: id.value, type, instructions: instructions.value, options: rows.read() }),
  }
}
