import { setImmediate as turn } from 'node:timers/promises'
import * as v from 'valibot'
import { actorOf, Audit } from '../../../core/access/audit.ts'
import { type Caller, scopes } from '../../../core/access/caller.ts'
import type { KeyRow } from '../../../core/access/key-row.ts'
import { Keyring } from '../../../core/access/keyring.ts'
import { isName, nameShape } from '../../shared/names.ts'
import { listOf } from '../../../core/validate.ts'
import { Conflict, NotFound } from '../../../core/errors.ts'
import { enveloped, data } from '../../../core/http/reply.ts'
import { route } from '../../../core/http/route.ts'
import { usages } from '../../usage/usage-rows.ts'
import { lazy } from '../../../core/plugin.ts'
import { MetadataStore } from '../../../core/ports/metadata-store.ts'
import { KeptTeams } from '../../../core/ports/credentials.ts'
import { Clock } from '../../../core/ports/platform.ts'
import { OwnLimits, Settings } from '../../../core/settings.ts'
import { pageQuery, pageOfList, placeOf } from '../shared/pagination.ts'
import type { KeyOrder, KeyState } from './key-list.ts'
import { organizationFor, ownKey, whose } from './whose.ts'

/** Readings of the store one after the other, before other requests go on. */
const readingsAtOnce = 10

const granting = lazy(() => import('./grants.ts'))
const listing = lazy(() => import('./key-list.ts'))

/** What keys are listed by. */
const keyStates = ['active', 'expired', 'revoked'] as const satisfies readonly KeyState[]
const keyOrders = ['created_at', 'name', 'team', 'expires_at'] as const satisfies readonly KeyOrder[]

/** What may be changed of a key, too. */
const changeable = {
  name: v.optional(v.pipe(v.string(), v.maxLength(200))),
  scopes: v.optional(listOf(v.picklist(scopes), 0, 100)),
  models: v.optional(v.nullable(listOf(v.pipe(v.string(), v.maxLength(256)), 0, 1000))),
  addresses: v.optional(v.nullable(listOf(v.pipe(v.string(), v.maxLength(64)), 0, 256))),
  /** All limits at once: an absent limit is that of the caller's own key. */
  limits: v.optional(OwnLimits),
  /** Unix time in ms. */
  expires_at: v.optional(v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0)))),
}

const plainName = v.pipe(v.string(), v.regex(nameShape), v.check(isName, 'another name'))

const newKey = v.strictObject({
  ...changeable,
  /** The caller's own when absent; another one takes `api_key.delegate`. */
  user: v.optional(plainName),
  /** The caller's own when absent; a caller of a team gives no other one. */
  team: v.optional(plainName),
  mode: v.optional(v.picklist(['live', 'test']), 'live'),
})

/** With `version`, a key that was changed since is left as it is. */
const changed = v.strictObject({
  ...changeable,
  team: v.optional(v.nullable(plainName)),
  version: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
})

const described = v.object({
  id: v.string(),
  name: v.string(),
  organization: v.string(),
  user: v.string(),
  /** Null for none. */
  team: v.nullable(v.string()),
  mode: v.picklist(['live', 'test']),
  scopes: v.array(v.picklist(scopes)),
  /** Null for all. */
  models: v.nullable(v.array(v.string())),
  addresses: v.nullable(v.array(v.string())),
  /** What differs from the configured ones. */
  limits: OwnLimits,
  /** Ids of the keys that it descends from; the last one made it. */
  makers: v.array(v.string()),
  hint: v.string(),
  created_at: v.number(),
  expires_at: v.nullable(v.number()),
  revoked_at: v.nullable(v.number()),
  version: v.number(),
})

/** A key as it is read, with the day (UTC) of its last use; null when it was never used. */
const read = v.object({ ...described.entries, last_used: v.nullable(v.string()) })

const create = route({
  method: 'POST',
  path: '/admin/keys',
  summary: 'Makes a key in the caller’s organisation. The answer is the only place where it can be read.',
  access: { scope: 'api_key.create' },
  body: { read: 'json', schema: newKey, bytes: 64 * 1024 },
  answer: enveloped(v.object({ ...described.entries, key: v.string() })),
  status: 201,
  needs: { keyring: Keyring, audit: Audit, settings: Settings, clock: Clock, teams: KeptTeams },
  async handle({ id, input, caller }, { keyring, audit, settings, clock, teams }) {
    const own = await ownKey(caller, keyring, clock)
    const { organization } = caller
    const { grantedPowers } = await granting()
    const kept = await keptTeam(organization, input.team, teams)
    const make = () => {
      const { name = '', mode } = input
      return keyring.create({ ...grantedPowers(input, own, settings, clock.now(), kept), name, mode, organization })
    }
    const made = await audit.record(actorOf(id, caller), 'key.create', null, make, ({ row }) => row.id)
    return data({ ...made.row, key: made.credential }, 'Key created; it is shown only here', 201)
  },
})

const list = route({
  method: 'GET',
  path: '/admin/keys',
  summary: 'Lists the keys of the caller’s organisation, newest first; for operators those of any organisation.',
  access: { scope: 'api_key.read' },
  query: v.strictObject({
    ...pageQuery,
    ...whose,
    team: v.optional(v.pipe(v.string(), v.maxLength(128))),
    search: v.optional(v.pipe(v.string(), v.maxLength(200))),
    state: v.optional(v.picklist(keyStates)),
    sort: v.optional(v.picklist(keyOrders), 'created_at'),
    direction: v.optional(v.picklist(['up', 'down']), 'down'),
  }),
  answer: enveloped(v.object({ keys: v.array(read), pagination: pageOfList })),
  needs: { stored: MetadataStore, settings: Settings, clock: Clock },
  async handle({ caller, query }, { stored, settings, clock }) {
    const organization = organizationFor(caller, query.organization, settings)
    const { listedKeys } = await listing()
    const { rows, total } = await listedKeys(stored, { ...query, organization }, clock.now())
    const keys: Awaited<ReturnType<typeof withLastUse>>[] = []
    for (const row of rows) {
      // Other requests get their turns between the readings of a page.
      if (keys.length % readingsAtOnce === 0) await turn()
      keys.push(await withLastUse(row, stored))
    }
    return data({ keys, pagination: placeOf(query, rows.length, total) })
  },
})

const get = route({
  method: 'GET',
  path: '/admin/keys/{id}',
  summary: 'One key of the caller’s organisation, without the credential.',
  access: { scope: 'api_key.read' },
  answer: enveloped(read),
  needs: { keyring: Keyring, uses: MetadataStore },
  handle: async ({ caller, params }, { keyring, uses }) =>
    data(await withLastUse(await found(params.id, caller, keyring), uses)),
})

const withLastUse = async (key: KeyRow, uses: MetadataStore) => {
  const order = { by: 'day', descending: true } as const
  const { rows } = await uses.list(usages, { where: { key: key.id }, order, limit: 1, countTo: 1 })
  return { ...key, last_used: rows[0]?.row.day ?? null }
}

const change = route({
  method: 'PATCH',
  path: '/admin/keys/{id}',
  summary:
    'Changes a key that lives. A caller without every scope of the key only narrows it. The change holds everywhere within five seconds.',
  access: { scope: 'api_key.update' },
  body: { read: 'json', schema: changed, bytes: 64 * 1024 },
  answer: enveloped(described),
  needs: { keyring: Keyring, audit: Audit, settings: Settings, clock: Clock, teams: KeptTeams },
  async handle({ id: request, input, caller, params }, { keyring, audit, settings, clock, teams }) {
    const { id, organization } = await found(params.id, caller, keyring)
    const own = await ownKey(caller, keyring, clock)
    const { changedKey } = await granting()
    const kept = await keptTeam(organization, input.team ?? undefined, teams)
    const decide = changedKey(input, own, settings, clock.now(), kept)
    const change = () =>
      keyring.change(id, organization, (key) => {
        if (key.version !== (input.version ?? key.version)) throw new Conflict('The key was changed meanwhile')
        return decide(key)
      })
    const row = await audit.record(actorOf(request, caller), 'key.update', id, change)
    return data(row, 'Key changed')
  },
})

const revoke = route({
  method: 'DELETE',
  path: '/admin/keys/{id}',
  summary: 'Revokes a key; it is refused everywhere within five seconds.',
  access: { scope: 'api_key.delete' },
  needs: { keyring: Keyring, audit: Audit },
  async handle({ id: request, caller, params }, { keyring, audit }) {
    const { id, organization } = await found(params.id, caller, keyring)
    await audit.record(actorOf(request, caller), 'key.revoke', id, () => keyring.revoke(id, organization))
    return data({ id }, 'Key revoked')
  },
})

const found = async (id: string, caller: Caller, keyring: Keyring): Promise<KeyRow> => {
  const row = await keyring.get(id, caller.organization)
  if (row === null) throw new NotFound('No such key')
  return row
}

/** The name of a team that is kept and open; null for none. */
const keptTeam = async (organization: string, name: string | undefined, teams: readonly KeptTeams[]) => {
  if (name === undefined) return null
  const found = await Promise.all(teams.map((team) => team.find(organization, name)))
  return found.some((team) => team?.isClosed === false) ? name : null
}

/** Acts on keys that are found stand in the audit, refused ones too. */
export const adminRoutes = [create, list, get, change, revoke] as const
