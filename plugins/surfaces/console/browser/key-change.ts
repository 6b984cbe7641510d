import type { Key, Self } from './answers.ts'
import { el, div } from './element.ts'
import { changeForm } from './change-form.ts'
import { type Change, changeKey } from './key-acts.ts'
import { limitFields, limitsOf, wordList, wordsText } from './key-limits.ts'
import type { View } from './page.ts'
import { field, fieldset } from './parts.ts'
import { scopeBoxes } from './scope-boxes.ts'
import { teamField } from './team-field.ts'

/** The last moment of a field for moments. */
const lastMoment = '9999-12-31T23:59'

const localMoment = (at: number | null): string => {
  if (at === null) return ''
  if (at > Date.parse(lastMoment)) return lastMoment
  const offset = new Date(at).getTimezoneOffset() * 60_000
  return new Date(at - offset).toISOString().slice(0, 16)
}

const changeOf = (form: HTMLFormElement, key: Key): Change => {
  const fields = new FormData(form)
  const written = String(fields.get('name') ?? '')
  const end = String(fields.get('expires') ?? '')
  // An end that the reader leaves alone keeps its seconds.
  const expires = end === localMoment(key.expires_at) ? key.expires_at : end === '' ? null : new Date(end).getTime()
  return {
    // A name that the reader leaves alone keeps its spaces, and its line breaks, which no field shows.
    name: written === key.name.replace(/[\r\n]/g, '') ? key.name : written.trim(),
    team: String(fields.get('team') ?? '').trim() || null,
    scopes: fields.getAll('scope').map(String),
    models: wordList(fields, 'models', key.models),
    addresses: wordList(fields, 'addresses', key.addresses),
    limits: limitsOf(fields, key.limits),
    expires_at: expires,
  }
}

const earlier = ({ name, team, scopes, models, addresses, limits, expires_at }: Key): Change => ({
  ...{ name, team, scopes, models, addresses, limits, expires_at },
})

/** The scopes of the reader's key and those of this key, in one order. */
const scopesOf = (key: Key, self: Self): readonly string[] => [
  ...key.scopes,
  ...self.scopes.filter((scope) => !key.scopes.includes(scope)),
]

const inputs = ({ gateway }: View, self: Self, key: Key): readonly HTMLElement[] => [
  field(
    'Name',
    'Everybody who may read the list of keys sees the name.',
    el('input', { name: 'name', value: key.name, maxlength: 200 }),
  ),
  field(
    'Models',
    'Names with spaces between them, and quotes around a name that has spaces; empty for all.',
    el('input', { name: 'models', value: wordsText(key.models), spellcheck: 'false' }),
  ),
  teamField(gateway, key.team),
  div('pair', limitFields(key.limits)),
  field(
    'Addresses',
    'Addresses or CIDR ranges from which the key works; empty for all.',
    el('input', { name: 'addresses', value: wordsText(key.addresses), spellcheck: 'false' }),
  ),
  field(
    'Expires',
    'In the time zone of this browser; empty for never.',
    // Without a largest year the browser takes six digits, and a year of five is no date: it would become null, for never.
    el('input', {
      ...{ name: 'expires', type: 'datetime-local', max: lastMoment },
      value: localMoment(key.expires_at),
    }),
  ),
  fieldset('Scopes', scopeBoxes(scopesOf(key, self), key.scopes)),
]

/** The form that changes a key. One click takes the change back. */
export const keyChange = (view: View, self: Self, key: Key, draw: (key: Key) => void): HTMLElement =>
  changeForm<Key, Change>({
    now: key,
    what: 'key',
    inputs: (key) => inputs(view, self, key),
    changeOf,
    earlier,
    draw,
    send: async (change, before) => ({ ...before, ...(await changeKey(view.gateway, before, change)) }),
    again: view.again,
  })
