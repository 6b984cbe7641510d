import type { Act, Key, Self, Usage } from './answers.ts'
import { auditOf } from './audit-table.ts'
import { shownCost, sumOf } from './sums.ts'
import { ask } from './dialog.ts'
import { type Child, el, div } from './element.ts'
import { moment, utcDay, counted } from './format.ts'
import { pathOf, wholeList } from './gateway.ts'
import { revokeKey, rotateKey, type Change, changeKey } from './key-acts.ts'
import { limitLabel, limitFields, limitsOf, wordList, wordsText } from './key-limits.ts'
import { secretOf } from './key-secret.ts'
import { expiryOf, isAlive, nameOr, stateOf } from './key-state.ts'
import type { View } from './page.ts'
import { badge, button, facts, heading, link, note, refusal, section, stack, select, field, fieldset } from './parts.ts'
import { teamHash } from './team-words.ts'
import { changeForm } from './change-form.ts'
import { scopeBoxes } from './scope-boxes.ts'
import { teamField } from './team-field.ts'

const hour = 3_600_000
/** Seconds after which a revoked key is refused everywhere. */
const everywhere = 5

const overlaps: readonly (readonly [ms: number, words: string])[] = [
  [hour, '1 hour'],
  [24 * hour, '24 hours'],
  [7 * 24 * hour, '7 days'],
]

/** Counts down in the page's clock; the reader of a screen hears the beginning and the end. */
const countdown = (told: HTMLElement, signal: AbortSignal): void => {
  let left = everywhere
  const timer = setInterval(() => {
    left--
    if (left > 0) return void (told.dataset['left'] = `${left} s`)
    clearInterval(timer)
    delete told.dataset['left']
    told.textContent = 'Revoked: refused everywhere.'
  }, 1_000)
  told.dataset['left'] = `${left} s`
  told.textContent = 'Revoked: refused everywhere within five seconds.'
  signal.addEventListener('abort', () => clearInterval(timer), { once: true })
}

interface Acting {
  readonly view: View
  readonly self: Self
  /** Where the words about an act stand. */
  readonly place: HTMLElement
  /** The key as the reader's acts have left it. */
  now(): Key
  /** Shows what an act has made of the key. */
  put(key: Key): void
}

/** A key of no team gets the team of its maker: a caller of a team makes no other keys. */
const teamWords = (key: Key, { team }: Self): Child =>
  key.team === null && team !== null && el('p', {}, `The team ${team} pays for the new key.`)

const rotation = ({ view, self, place, now, put }: Acting): HTMLElement => {
  const choice = select({ 'aria-label': 'How long both keys work' }, overlaps, 24 * hour)
  const rotate = async (): Promise<void> => {
    const { made, old, fault } = await rotateKey(view.gateway, now(), Number(choice.value), Date.now())
    const shown = await secretOf(view, made)
    place.replaceChildren(
      fault === null
        ? el('p', { class: 'fine', role: 'status' }, `Both keys work until ${expiryOf(old)}; then the old one ends.`)
        : el('div', {}, refusal(fault), note('The new key is made. The old one keeps its end.')),
      shown,
    )
    put(old)
    own.remove()
  }
  const begin = () =>
    ask({
      title: 'Rotate this key?',
      words: [
        el('p', {}, 'A new key with the same powers is made. Both work for ', choice, ', then this one ends.'),
        teamWords(now(), self),
      ],
      yes: 'Rotate',
      act: rotate,
    })
  const own = button('Rotate', begin)
  return own
}

const revocation = ({ view, place, now, put }: Acting): HTMLElement => {
  const revoke = async (): Promise<void> => {
    await revokeKey(view.gateway, now().id)
    const told = el('p', { class: 'countdown', role: 'status' })
    place.replaceChildren(told)
    countdown(told, view.signal)
    put({ ...now(), revoked_at: Date.now() })
    for (const act of place.parentElement?.querySelectorAll('header .actions button') ?? []) act.remove()
  }
  const begin = () =>
    ask({
      title: 'Revoke this key?',
      words: el('p', {}, 'Programs that use it are refused within five seconds. A revoked key never comes back.'),
      yes: 'Revoke',
      act: revoke,
    })
  return button('Revoke', begin, 'danger')
}

const listOr = (all: readonly string[] | null, none: string): Child =>
  all === null ? none : all.length === 0 ? 'none' : all.map((name) => [el('code', {}, name), ' '])

/** Null where the key has those of the configuration alone. */
const ownLimits = ({ limits }: Key): readonly string[] | null => {
  const own = Object.entries(limits).map(([name, limit]) => `${limitLabel(name)}: ${limit ?? 'none'}`)
  return own.length === 0 ? null : own
}

const about = (key: Key, uses: readonly Usage[]): HTMLElement => {
  const sum = sumOf(uses)
  const { kind, words } = stateOf(key, Date.now())
  return section(
    'Key',
    facts([
      ['State', badge(kind, words)],
      ['Id', el('code', {}, key.id)],
      ['Last letters', el('code', {}, `…${key.hint}`)],
      ['Mode', key.mode],
      ['Organisation, user', `${key.organization}, ${key.user}`],
      ['Team', key.team === null ? 'none' : link(key.team, teamHash(key.team))],
      ['Made', moment(key.created_at)],
      ['Expires', expiryOf(key)],
      ['Last use', uses[0]?.day ?? 'not in the last 30 days'],
      ['30 days', [`${counted(sum.requests, 'request')}, cost `, shownCost(sum)]],
      ['Scopes', listOr(key.scopes, 'none'), 'wide'],
      ['Models', listOr(key.models, 'all'), 'wide'],
      ['Addresses', listOr(key.addresses, 'all'), 'wide'],
      ['Own limits', ownLimits(key)?.join(', ') ?? 'none', 'wide'],
    ]),
  )
}

const titleOf = (key: Key): string => nameOr(key, 'A key without a name')

/** One key with its acts, its use and its audit. */
export const keyDetail = async (view: View, id: string): Promise<readonly Child[]> => {
  const { gateway } = view
  const [key, self, uses, acts] = await Promise.all([
    gateway.ask<Key>('GET', `/admin/keys/${encodeURIComponent(id)}`),
    gateway.ask<Self>('GET', '/admin/self'),
    wholeList<Usage>(gateway, '/admin/usage', 'usage', { key: id, from: utcDay(Date.now(), 29) }),
    wholeList<Act>(gateway, '/admin/audit', 'acts', {}, 5),
  ])
  const [place, region, change] = [stack(), stack(), stack()]
  let now = key
  const isActive = (): boolean => isAlive(now, Date.now())
  const draw = (changed: Key): void => {
    now = changed
    head.querySelector('h1')?.replaceChildren(titleOf(changed))
    region.replaceChildren(about(changed, uses.rows))
  }
  const put = (changed: Key): void => {
    draw(changed)
    change.replaceChildren(...(isActive() ? [keyChange(view, self, changed, draw)] : []))
  }
  const acting = { view, self, place, now: () => now, put }
  const head = heading(
    titleOf(key),
    link('All keys', '#/keys'),
    isActive() && rotation(acting),
    isActive() && revocation(acting),
  )
  put(key)
  return [
    head,
    place,
    region,
    change,
    note(link('Usage of this key', pathOf('#/usage', { key: id }))),
    auditOf(
      gateway,
      'key',
      acts.rows.filter(({ object, actor }) => object === id || actor === id),
    ),
  ]
}

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
const keyChange = (view: View, self: Self, key: Key, draw: (key: Key) => void): HTMLElement =>
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
