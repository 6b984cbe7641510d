import type { Self } from './answers.ts'
import { el, div } from './element.ts'
import { type Wanted, createKey } from './key-acts.ts'
import { limitFields, limitsOf, wordList } from './key-limits.ts'
import { secretOf } from './key-secret.ts'
import { scopeBoxes } from './scope-boxes.ts'
import type { View } from './page.ts'
import { field, heading, link, refusal, section, stack, select, form, sending, folded, fieldset } from './parts.ts'
import { teamField } from './team-field.ts'
import { templates } from './templates.ts'

const day = 86_400_000

const ends: readonly (readonly [days: number, words: string])[] = [
  [0, 'never later than the key in use'],
  [7, 'in 7 days'],
  [30, 'in 30 days'],
  [90, 'in 90 days'],
  [365, 'in a year'],
]

/** The choice of scopes by hand. */
const custom = 'Custom'

const scopesOf = (fields: FormData): readonly string[] => {
  const template = String(fields.get('template'))
  return template === custom
    ? fields.getAll('scope').map(String)
    : (templates.find(({ name }) => name === template)?.scopes ?? [])
}

const wantedOf = (form: HTMLFormElement): Wanted => {
  const fields = new FormData(form)
  const text = (name: string) => String(fields.get(name) ?? '').trim()
  const days = Number(text('days'))
  return {
    name: text('name'),
    team: text('team') === '' ? null : text('team'),
    scopes: scopesOf(fields),
    models: wordList(fields, 'models'),
    addresses: wordList(fields, 'addresses'),
    limits: limitsOf(fields),
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

const inputs = ({ gateway }: View, { scopes, team }: Self): readonly HTMLElement[] => [
  fieldset(
    'What is it for?',
    div('choose', [...templates, { name: custom, words: 'The scopes that you mark below.', scopes: [] }].map(choice)),
  ),
  field(
    'Name',
    'Everybody who may read the list of keys sees the name.',
    el('input', { name: 'name', maxlength: 200, required: true, autocomplete: 'off' }),
  ),
  field(
    'Models',
    'Names with spaces between them, and quotes around a name that has spaces; empty for all models of the key in use.',
    el('input', { name: 'models', autocomplete: 'off', spellcheck: 'false' }),
  ),
  field('Expires', 'A key can be revoked at any time.', select({ name: 'days' }, ends)),
  folded(
    'Team, budget, limits, addresses and scopes',
    teamField(gateway, team, 'that of the key in use'),
    div('pair', limitFields()),
    field(
      'Addresses',
      'Addresses or CIDR ranges from which the key works; empty for all.',
      el('input', { name: 'addresses', autocomplete: 'off', spellcheck: 'false' }),
    ),
    folded('Scopes of the choice Custom', scopeBoxes(scopes)),
  ),
]

/** Makes a key; this tab alone shows the new credential. */
export const keyForm = async (view: View): Promise<readonly HTMLElement[]> => {
  const self = await view.gateway.ask<Self>('GET', '/admin/self')
  const told = el('div')
  const place = stack()
  const make = async (): Promise<void> => {
    try {
      const shown = await secretOf(view, await createKey(view.gateway, wantedOf(own)))
      if (view.signal.aborted) return
      place.replaceChildren(shown)
      shown.querySelector<HTMLElement>('pre')?.focus()
    } catch (error) {
      told.replaceChildren(refusal(error))
    }
  }
  const own = form(make, inputs(view, self), told, sending('Make the key'))
  place.append(section('New key', own))
  return [heading('New key', link('All keys', '#/keys')), place]
}
