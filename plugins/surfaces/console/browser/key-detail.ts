import type { Act, Key, Self, Usage } from './answers.ts'
import { auditRows } from './audit-table.ts'
import { shownCost } from './costs.ts'
import { ask } from './dialog.ts'
import { type Child, el } from './element.ts'
import { moment, utcDay, counted } from './format.ts'
import { curlOf, pathOf } from './gateway.ts'
import { keyChange } from './key-change.ts'
import { revokeKey, rotateKey } from './key-acts.ts'
import { limitLabel } from './key-limits.ts'
import { secretOf } from './key-secret.ts'
import { expiryOf, isAlive, stateOf } from './key-state.ts'
import { wholeList } from './listing.ts'
import type { View } from './page.ts'
import { badge, button, facts, heading, link, note, refusal, section, stack, select } from './parts.ts'
import { sumOf } from './sums.ts'
import { table } from './table.ts'
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

const rotation = (view: View, key: Key, place: HTMLElement): HTMLElement => {
  const choice = select({ 'aria-label': 'How long both keys work' }, overlaps, 24 * hour)
  const rotate = async (): Promise<void> => {
    const { made, until, fault } = await rotateKey(view.gateway, key, Number(choice.value), Date.now())
    const shown = await secretOf(view, made)
    place.replaceChildren(
      fault === null
        ? el('p', { class: 'fine', role: 'status' }, `Both keys work until ${moment(until)}; then the old one ends.`)
        : el('div', {}, refusal(fault), note('The new key is made. The old one keeps its end.')),
      shown,
    )
  }
  const begin = () =>
    ask({
      title: 'Rotate this key?',
      words: el('p', {}, 'A new key with the same powers is made. Both work for ', choice, ', then this one ends.'),
      yes: 'Rotate',
      act: rotate,
    })
  return button('Rotate', begin)
}

const revocation = (view: View, key: Key, place: HTMLElement): HTMLElement => {
  const revoke = async (): Promise<void> => {
    await revokeKey(view.gateway, key.id)
    const told = el('p', { class: 'countdown', role: 'status' })
    place.replaceChildren(told)
    countdown(told, view.signal)
    for (const act of place.parentElement?.querySelectorAll('header .actions button, form') ?? []) act.remove()
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

/** One key with its acts, its use and its audit. */
export const keyDetail = async (view: View, id: string): Promise<readonly Child[]> => {
  const { gateway } = view
  const [key, self, uses, acts] = await Promise.all([
    gateway.ask<Key>('GET', `/admin/keys/${encodeURIComponent(id)}`),
    gateway.ask<Self>('GET', '/admin/self'),
    wholeList<Usage>(gateway, '/admin/usage', 'usage', { key: id, from: utcDay(Date.now(), 29) }),
    wholeList<Act>(gateway, '/admin/audit', 'acts', {}, 5),
  ])
  const place = stack()
  const region = stack(about(key, uses.rows))
  const alive = isAlive(key, Date.now())
  const draw = (changed: Key): void => region.replaceChildren(about(changed, uses.rows))
  return [
    heading(
      key.name === '' ? 'A key without a name' : key.name,
      link('All keys', '#/keys'),
      alive && rotation(view, key, place),
      alive && revocation(view, key, place),
    ),
    place,
    region,
    alive && keyChange(view, self, key, draw),
    note(link('Usage of this key', pathOf('#/usage', { key: id }))),
    table(
      auditRows(
        'Audit of this key, among the newest 500 acts',
        acts.rows.filter(({ object, actor }) => object === id || actor === id),
        curlOf(gateway.base, pathOf('/admin/audit', { limit: 100 })),
      ),
    ),
  ]
}
