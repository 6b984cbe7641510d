import type { Act, Key, Self, Usage } from './answers.ts'
import { auditOf } from './audit-table.ts'
import { shownCost } from './costs.ts'
import { ask } from './dialog.ts'
import { type Child, el } from './element.ts'
import { moment, utcDay, counted } from './format.ts'
import { pathOf } from './gateway.ts'
import { keyChange } from './key-change.ts'
import { revokeKey, rotateKey } from './key-acts.ts'
import { limitLabel } from './key-limits.ts'
import { secretOf } from './key-secret.ts'
import { expiryOf, isAlive, nameOr, stateOf } from './key-state.ts'
import { wholeList } from './listing.ts'
import type { View } from './page.ts'
import { badge, button, facts, heading, link, note, refusal, section, stack, select } from './parts.ts'
import { sumOf } from './sums.ts'
import { teamHash } from './team-words.ts'

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
