import { parseArgs } from 'node:util'
import { operator } from '../../../core/access/audit.ts'
import { type KeyRow, lives } from '../../../core/access/key-row.ts'
import { teamsOf } from '../../../core/access/caller.ts'
import type { NewKey } from '../../../core/access/keyring.ts'
import type { Gateway } from '../../../core/gateway.ts'
import { KeptTeams } from '../../../core/ports/credentials.ts'
import { Settings } from '../../../core/settings.ts'
import { didYouMean } from '../config/did-you-mean.ts'
import { still } from '../log/worded-line.ts'
import { commandUsages } from './help.ts'
import { type KeyValues, changeOf, keyOptions, lastDate, limitFlags, newKeyOf } from './key-options.ts'
import { labelledLines } from './table.ts'
import { refuseMoreArguments, withGateway } from './with-gateway.ts'

/** One call of a verb; `organization` null looks in all organisations. */
interface KeyCommand {
  readonly gateway: Gateway
  readonly values: KeyValues
  readonly organization: string | null
  /** Empty when the verb takes no id. */
  readonly id: string
}

type Option = keyof KeyValues

interface Verb {
  readonly takesId: boolean
  /** Options beside `--organization` and `--json`; any other one is refused. */
  readonly takes: readonly Option[]
  run(command: KeyCommand): Promise<void>
}

/** Manages the API keys of the configured installation. Prints to standard output. */
export const keys = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> => {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: keyOptions })
  const [name = '', id = ''] = positionals
  const verb = Object.hasOwn(verbs, name) ? verbs[name]! : null
  if (verb === null) throw new Error(unknown(name))
  if (verb.takesId && id === '') throw new Error(`keys ${name} needs the id of a key; keys list shows them`)
  refuseMoreArguments(positionals, verb.takesId ? 2 : 1, commandUsages.keys)
  const idle = (Object.keys(values) as Option[]).find((option) => ![...common, ...verb.takes].includes(option))
  if (idle !== undefined) throw new Error(`keys ${name} takes no --${idle}\n${commandUsages.keys}`)
  const organization = values.organization ?? null
  await withGateway(env, (gateway) => verb.run({ gateway, values, organization, id }))
}

const unknown = (name: string): string =>
  name === '' ? commandUsages.keys : `keys has no ${name}${didYouMean(name, Object.keys(verbs))}\n${commandUsages.keys}`

const create = async ({ gateway, values }: KeyCommand): Promise<void> => {
  const { keys, audit } = gateway
  const wanted = newKeyOf(values)
  await requireTeam(gateway, wanted)
  const make = () => keys.create(wanted)
  const made = await audit.record(
    operator('command', wanted.organization),
    'key.create',
    null,
    make,
    ({ row }) => row.id,
  )
  show(made.row, values, made.credential)
}

/** Throws with the teams that there are for a team that neither the configuration nor the store has. */
const requireTeam = async (gateway: Gateway, { organization = 'default', team }: NewKey): Promise<void> => {
  if (team == null) return
  const { settings, kept } = gateway.supply({ settings: Settings, kept: KeptTeams })
  for (const { find } of kept) if ((await find(organization, team))?.isClosed === false) return
  const teams = Object.keys(teamsOf(organization, settings.organizations))
  if (teams.includes(team)) return
  const known = teams.length === 0 ? 'none' : teams.join(', ')
  throw new Error(
    `there is no team ${team}${didYouMean(team, teams)}; teams of ${organization} in the configuration: ${known}`,
  )
}

const list = async ({ gateway, values, organization }: KeyCommand): Promise<void> => {
  const all: KeyRow[] = []
  for (let offset = 0; ; offset += 100) {
    const { rows, total } = await gateway.keys.list(organization, 100, offset)
    if (values.json) all.push(...rows)
    else
      for (const row of rows)
        print(
          [row.id, row.organization, row.user, `sk_${row.mode}_…${row.hint}`, state(row), still(row.name)].join('\t'),
        )
    if (offset + rows.length >= total) break
  }
  if (values.json) print(JSON.stringify(all, null, 2))
}

const update = async (command: KeyCommand): Promise<void> => {
  const before = await known(command)
  const change = changeOf(command.values, before.limits)
  if (Object.keys(change).length === 0)
    throw new Error('keys update takes --name, --models, --addresses, --days and limits such as --cost-per-month')
  const { id, organization } = before
  const { keys, audit } = command.gateway
  const row = await audit.record(operator('command', organization), 'key.update', id, () =>
    keys.change(id, organization, change),
  )
  if (row !== null) show(row, command.values)
}

/** Makes a key with the same rights. The old key ends now; with `--keep` it goes on. */
const rotate = async (command: KeyCommand): Promise<void> => {
  const old = await known(command)
  if (!lives(old, Date.now())) throw new Error('the key was revoked or has expired; keys create makes another')
  const { keys, audit } = command.gateway
  const actor = operator('command', old.organization)
  const { id: _, hint: __, created_at: ___, revoked_at: ____, ...same } = old
  const made = await audit.record(
    actor,
    'key.create',
    null,
    () => keys.create({ ...same, ...changeOf(command.values, old.limits) }),
    ({ row }) => row.id,
  )
  if (!command.values.keep) await audit.record(actor, 'key.revoke', old.id, () => keys.revoke(old.id, null))
  show(made.row, command.values, made.credential)
}

const revoke = async (command: KeyCommand): Promise<void> => {
  const { id, organization } = await known(command)
  const { keys, audit } = command.gateway
  await audit.record(operator('command', organization), 'key.revoke', id, () => keys.revoke(id, null))
  print(command.values.json ? JSON.stringify({ id, revoked: true }) : `${id} revoked`)
}

const common: readonly Option[] = ['organization', 'json']
const changing: readonly Option[] = ['name', 'models', 'addresses', 'days', ...limitFlags]
const making: readonly Option[] = [...changing, 'user', 'team', 'mode', 'scopes']

const verbs: Readonly<Record<string, Verb>> = {
  create: { takesId: false, takes: making, run: create },
  new: { takesId: false, takes: making, run: create },
  list: { takesId: false, takes: [], run: list },
  show: { takesId: true, takes: [], run: async (command) => show(await known(command), command.values) },
  update: { takesId: true, takes: changing, run: update },
  rotate: { takesId: true, takes: [...changing, 'keep'], run: rotate },
  revoke: { takesId: true, takes: [], run: revoke },
}

/** Throws for an unknown id, and for a key of another organisation than the named one. */
const known = async ({ gateway, id, organization }: KeyCommand): Promise<KeyRow> => {
  const row = await gateway.keys.get(id, organization)
  if (row === null) throw new Error('there is no such key')
  return row
}

/** The credential is printed only when the key was made: the store keeps its digest and its last letters. */
const show = (row: KeyRow, { json }: KeyValues, credential: string | null = null): void => {
  if (json) return print(JSON.stringify({ ...row, ...(credential !== null && { key: credential }) }, null, 2))
  print(
    labelledLines({
      id: row.id,
      ...(credential !== null && { key: credential }),
      state: state(row),
      name: still(row.name),
      organization: row.organization,
      user: row.user,
      team: row.team ?? 'none',
      scopes: row.scopes.join(', '),
      models: row.models?.map(still).join(', ') ?? 'all',
      addresses: row.addresses?.join(', ') ?? 'all',
      limits: limitWords(row),
      expires: row.expires_at === null ? 'never' : new Date(Math.min(row.expires_at, lastDate)).toISOString(),
    }),
  )
}

/** The limits of the key's own; the configuration tells the others. */
const limitWords = ({ limits }: KeyRow): string =>
  Object.entries(limits)
    .map(([name, limit]) => `${name} ${limit ?? 'none'}`)
    .join(', ') || 'as configured'

const print = (line: string): void => void process.stdout.write(`${line}\n`)

const state = (row: KeyRow): string =>
  row.revoked_at !== null ? 'revoked' : lives(row, Date.now()) ? 'active' : 'expired'
