import { type DraftQuestion, type QuestionType } from './decision-draft.ts'
import { emptyOptions } from './decision-templates.ts'
import { el, div } from './element.ts'
import { type OptionRows, optionRows } from './option-rows.ts'
import { button, field, select } from './parts.ts'

export interface QuestionForm {
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
export const questionForm = (
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
