import { el } from './element.ts'
import { type Wanted, createKey } from './key-acts.ts'
import { secretOf } from './key-secret.ts'
import type { View } from './page.ts'
import { field, heading, link, refusal, section, stack } from './parts.ts'
import { templates } from './templates.ts'

const day = 86_400_000

const ends: readonly (readonly [days: number, words: string])[] = [
  [0, 'when my own key does'],
  [7, 'in 7 days'],
  [30, 'in 30 days'],
  [90, 'in 90 days'],
  [365, 'in a year'],
]

const wantedOf = (form: HTMLFormElement): Wanted => {
  const fields = new FormData(form)
  const text = (name: string) => String(fields.get(name) ?? '').trim()
  const models = text('models')
    .split(/[\s,]+/)
    .filter((it) => it !== '')
  const days = Number(text('days'))
  return {
    name: text('name'),
    scopes: templates.find(({ name }) => name === text('template'))?.scopes ?? [],
    models: models.length === 0 ? null : models,
    expires_at: days === 0 ? null : Date.now() + days * day,
  }
}

const choice = ({ name, words, scopes }: (typeof templates)[number], at: number): HTMLElement =>
  el(
    'label',
    { class: 'choice' },
    el('input', { type: 'radio', name: 'template', value: name, checked: at === 0 }),
    el('span', {}, el('b', {}, name), el('span', {}, words), el('small', {}, scopes.join(' '))),
  )

const inputs = (): readonly HTMLElement[] => [
  el('fieldset', {}, el('legend', {}, 'What is it for?'), el('div', { class: 'choose' }, templates.map(choice))),
  field(
    'Name',
    'Whoever reads the list of keys sees it.',
    el('input', { name: 'name', maxlength: 200, required: true, autocomplete: 'off' }),
  ),
  field(
    'Models',
    'Names with spaces between them; empty for all that your own key may use.',
    el('input', { name: 'models', autocomplete: 'off', spellcheck: 'false' }),
  ),
  field(
    'It ends',
    'A key can be revoked at any time.',
    el(
      'select',
      { name: 'days' },
      ends.map(([days, words]) => el('option', { value: days }, words)),
    ),
  ),
]

/** Makes a key from a template; what is shown then stands in this tab alone. */
export const keyForm = (view: View): readonly HTMLElement[] => {
  const told = el('div')
  const place = stack()
  const make = async (form: HTMLFormElement): Promise<void> => {
    const submit = form.querySelector('button')
    submit?.setAttribute('disabled', '')
    try {
      const shown = await secretOf(view, await createKey(view.gateway, wantedOf(form)))
      if (view.signal.aborted) return
      place.replaceChildren(shown)
      shown.querySelector<HTMLElement>('pre')?.focus()
    } catch (error) {
      told.replaceChildren(refusal(error))
      submit?.removeAttribute('disabled')
    }
  }
  const form = el(
    'form',
    {
      on: {
        submit: (event) => {
          event.preventDefault()
          void make(form)
        },
      },
    },
    inputs(),
    told,
    el('div', { class: 'actions' }, el('button', { type: 'submit', class: 'main' }, 'Make the key')),
  )
  place.append(section('New key', form))
  return [heading('New key', link('All keys', '#/keys')), place]
}
