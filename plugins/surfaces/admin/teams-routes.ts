import * as v from 'valibot'
import { actorOf, Audit } from '../../../core/access/audit.ts'
import type { Caller } from '../../../core/access/caller.ts'
import type { KeyRow } from '../../../core/access/key-row.ts'
import { Keyring } from '../../../core/access/keyring.ts'
import { Forbidden, NotFound } from '../../../core/errors.ts'
import { enveloped, data } from '../../../core/http/reply.ts'
import { route } from '../../../core/http/route.ts'
import { OwnBudgets } from '../../../core/limit-settings.ts'
import { Clock } from '../../../core/ports/platform.ts'
import { type Budgets, Settings } from '../../../core/settings.ts'
import { isName, nameShape } from '../../shared/names.ts'
import { pageQuery, pageOfList, placeOf } from '../shared/pagination.ts'
import { type Team, Teams } from './teams.ts'
import { organizationFor, ownKey, whose } from './whose.ts'

const amount = v.nullable(v.number())

const described = v.object({
  organization: v.string(),
  name: v.string(),
  source: v.picklist(['configuration', 'store']),
  /** What differs from `limits.team` of the configuration. */
  budgets: OwnBudgets,
  /** What holds: the budgets, and for the others `limits.team`. */
  limits: v.object({ costPerDay: amount, costPerWeek: amount, costPerMonth: amount }),
  version: v.number(),
  created_at: v.nullable(v.number()),
  closed_at: v.nullable(v.number()),
})

const version = v.pipe(v.number(), v.integer(), v.minValue(0))
const needs = { teams: Teams, audit: Audit, keyring: Keyring, clock: Clock, settings: Settings }

const shown = (team: Team, { limits }: Settings) => ({ ...team, limits: { ...limits.team, ...team.budgets } })

/** An administrator of teams has none, and gives no more than the own key may cost. */
const insist = (own: KeyRow, given: Partial<Budgets> | null): void => {
  if (own.team !== null)
    throw new Forbidden('A caller of a team changes no teams', { validator: { team: 'Expected a caller of no team' } })
  if (given === null) return
  for (const name of ['costPerDay', 'costPerWeek', 'costPerMonth'] as const) {
    const [most, wanted] = [own.limits[name] ?? null, given[name] ?? null]
    if (most === null || (wanted !== null && wanted <= most)) continue
    throw new Forbidden('A team cannot be given more than its giver has', {
      validator: { [name]: 'Expected no more than the caller’s own key has' },
    })
  }
}

const found = async (caller: Caller, name: string, teams: Teams): Promise<Team> => {
  const team = await teams.get(caller.organization, name)
  if (team === null) throw new NotFound('No such team')
  return team
}

const list = route({
  method: 'GET',
  path: '/admin/teams',
  summary:
    'Lists the teams of the caller’s organisation by name, open and closed ones; for operators those of any organisation.',
  access: { scope: 'api_key.read' },
  query: v.strictObject({ ...pageQuery, ...whose }),
  answer: enveloped(v.object({ teams: v.array(described), pagination: pageOfList })),
  needs: { teams: Teams, settings: Settings },
  async handle({ caller, query }, { teams, settings }) {
    const all = await teams.list(organizationFor(caller, query.organization, settings))
    const page = all.slice(query.offset, query.offset + query.limit).map((team) => shown(team, settings))
    return data({ teams: page, pagination: placeOf(query, page.length, all.length) })
  },
})

const get = route({
  method: 'GET',
  path: '/admin/teams/{team}',
  summary: 'One team of the caller’s organisation.',
  access: { scope: 'api_key.read' },
  answer: enveloped(described),
  needs: { teams: Teams, settings: Settings },
  handle: async ({ caller, params }, { teams, settings }) =>
    data(shown(await found(caller, params.team, teams), settings)),
})

const create = route({
  method: 'POST',
  path: '/admin/teams',
  summary: 'Makes a team in the caller’s organisation. The configuration stays as it is.',
  access: { scope: 'api_key.create' },
  body: {
    read: 'json',
    schema: v.strictObject({
      name: v.pipe(v.string(), v.regex(nameShape), v.check(isName, 'another name')),
      budgets: v.optional(OwnBudgets, {}),
    }),
    bytes: 4_096,
  },
  answer: enveloped(described),
  status: 201,
  needs,
  async handle({ id, input, caller }, { teams, audit, keyring, clock, settings }) {
    insist(await ownKey(caller, keyring, clock), input.budgets)
    const make = () => teams.create(caller.organization, input.name, input.budgets)
    const done = await audit.record(actorOf(id, caller), 'team.create', input.name, make)
    return data(shown(done, settings), 'Team created', 201)
  },
})

const change = route({
  method: 'PATCH',
  path: '/admin/teams/{team}',
  summary: 'Changes the budgets of a team, or opens it again. The change holds everywhere within five seconds.',
  access: { scope: 'api_key.update' },
  body: {
    read: 'json',
    /** All budgets at once: an absent one is that of the configuration. */
    schema: v.strictObject({ budgets: OwnBudgets, version }),
    bytes: 4_096,
  },
  answer: enveloped(described),
  needs,
  async handle({ id, input, caller, params }, { teams, audit, keyring, clock, settings }) {
    const team = await found(caller, params.team, teams)
    insist(await ownKey(caller, keyring, clock), input.budgets)
    const act = () => teams.change(team, input.version, { budgets: input.budgets, closed_at: null })
    const done = await audit.record(actorOf(id, caller), 'team.update', team.name, act)
    return data(shown(done, settings), 'Team changed')
  },
})

const close = route({
  method: 'DELETE',
  path: '/admin/teams/{team}',
  summary: 'Closes a team: its keys are refused everywhere within five seconds, until a change opens the team again.',
  access: { scope: 'api_key.delete' },
  answer: enveloped(described),
  needs,
  async handle({ id, caller, params }, { teams, audit, keyring, clock, settings }) {
    const team = await found(caller, params.team, teams)
    insist(await ownKey(caller, keyring, clock), null)
    const act = () => teams.change(team, team.version, { closed_at: team.closed_at ?? clock.now() })
    const done = await audit.record(actorOf(id, caller), 'team.close', team.name, act)
    return data(shown(done, settings), 'Team closed')
  },
})

/** A team of the configuration is listed here, and changed in its file alone. */
export const teamRoutes = [list, get, create, change, close] as const
