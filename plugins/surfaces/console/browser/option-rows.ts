import type { DraftOption, QuestionType } from './decision-draft.ts'
import { type Child, el, div } from './element.ts'
import { button } from './parts.ts'

export interface OptionRows {
  readonly root: HTMLElement
  read(): readonly DraftOption[]
}

interface Kind {
  readonly title: string
  /** How one option is called; null where options are neither added nor removed. */
  readonly name: string | null
  readonly least: number
  readonly most: number
}

const kinds: Readonly<Record<QuestionType, Kind>> = {
  choice: { title: 'Labels', name: 'label', least: 1, most: 26 },
  score: { title: 'Levels, from low to high', name: 'level', least: 2, most: 10 },
  noul: { title: 'Outcomes', name: null, least: 2, most: 2 },
}

/** A field that tells what it is by its placeholder too. */
const input = (label: string, value: string, write: (text: string) => void): HTMLInputElement =>
  el('input', {
    'aria-label': label,
    placeholder: label,
    value,
    autocomplete: 'off',
    on: { input: ({ target }) => write((target as HTMLInputElement).value) },
  })

/** The options of one question, each in a row. */
export const optionRows = (type: QuestionType, given: readonly DraftOption[], changed: () => void): OptionRows => {
  const { title, name, least, most } = kinds[type]
  let options = given
  const rows = div('options')
  const write = (at: number, change: Partial<DraftOption>): void => {
    options = options.map((option, place) => (place === at ? { ...option, ...change } : option))
    changed()
  }
  const inputs = ({ label, meaning }: DraftOption, at: number): readonly Child[] => {
    const mean = (words: string) => input(words, meaning, (meaning) => write(at, { meaning }))
    if (type === 'noul') return [mean(at === 0 ? 'Yes means' : 'No means')]
    if (type === 'score') return [mean(`Level ${at}`)]
    return [input(`Label ${at + 1}`, label, (label) => write(at, { label })), mean(`Meaning of label ${at + 1}`)]
  }
  const put = (next: readonly DraftOption[]): void => {
    options = next
    draw()
    changed()
  }
  const removal = (at: number): HTMLElement => {
    const remove = button('Remove', () => put(options.filter((_, place) => place !== at)), 'quiet')
    remove.setAttribute('aria-label', `Remove ${name} ${type === 'score' ? at : at + 1}`)
    return remove
  }
  const add = button(`Add a ${name}`, () => {
    put([...options, { label: '', meaning: '' }])
    rows.lastElementChild?.querySelector('input')?.focus()
  })
  const draw = (): void => {
    const lines = options.map((option, at) =>
      el(
        'div',
        { class: `option ${type === 'choice' ? 'choice-row' : ''}` },
        inputs(option, at),
        name !== null && options.length > least && removal(at),
      ),
    )
    rows.replaceChildren(...lines)
    add.disabled = options.length >= most
  }
  draw()
  const root = el('div', { class: 'options', role: 'group', 'aria-label': title }, rows)
  if (name !== null) root.append(div('actions', add))
  return { root, read: () => options }
}
