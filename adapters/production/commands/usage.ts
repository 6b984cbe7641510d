import { parseArgs } from 'node:util'
import type { Gateway } from '../../../core/gateway.ts'
import { isDay } from '../../local/option-values.ts'
import { didYouMean } from '../config/did-you-mean.ts'
import { commandUsages } from './help.ts'
import { type UsageSum, UsageSums } from '../../../plugins/usage/usage-sums.ts'
import { csvOf } from '../../../plugins/surfaces/admin/csv.ts'
import { tableOf } from './table.ts'
import { refuseMoreArguments, withGateway } from './with-gateway.ts'

const groups = ['organization', 'team', 'user', 'key', 'model', 'backend', 'tag', 'day'] as const
type Group = (typeof groups)[number]

/** Names of these are an organisation's own, so two organisations may have the same. */
const ownNames: readonly Group[] = ['team', 'user']

/** What is added up; the organisation is null for all. */
interface Sought {
  readonly by: Group
  readonly organization: string | null
  readonly from: string
  readonly to: string
}

/** A sum, and whose it is where its name does not tell. */
interface Row extends UsageSum {
  readonly organization: string | null
}

/** Around every day of a gateway. */
const [firstDay, lastDay] = ['2000-01-01', '2999-12-31']

/** Sums of one answer: each reads all rows behind it. */
const page = 100_000

/** Prints the sums of usage to standard output. */
export const usage = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> => {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { by: text, organization: text, from: text, to: text, csv: flag, json: flag },
  })
  refuseMoreArguments(positionals, 0, commandUsages.usage)
  const by = groupOf(values.by ?? 'day')
  const [from = firstDay, to = lastDay] = [dayOf(values.from, '--from'), dayOf(values.to, '--to')]
  const sought = { by, organization: values.organization ?? null, from, to }
  await withGateway(env, async (gateway) => {
    const rows = ownNames.includes(by) ? await rowsOfEach(gateway, sought) : await rowsOf(gateway, sought)
    process.stdout.write(`${printed(by, rows, values)}\n`)
  })
}

const groupOf = (text: string): Group => {
  const group = groups.find((group) => group === text)
  if (group === undefined) throw new Error(`--by takes ${groups.join(', ')}${didYouMean(text, groups)}`)
  return group
}

/** A day of UTC; undefined when the option is absent. */
const dayOf = (text: string | undefined, option: string): string | undefined => {
  if (text !== undefined && !isDay(text)) throw new Error(`${option} takes a day of the calendar, such as 2030-01-31`)
  return text
}

/** Pages are read until a page is not full, so that no answer holds the sums of many keys. */
const added = async (gateway: Gateway, sought: Sought): Promise<readonly UsageSum[]> => {
  const sums: UsageSum[] = []
  for (let after: string | null = ''; after !== null;) {
    const question = { ...sought, ...(after !== '' && { after }), limit: page }
    const found: readonly UsageSum[] = await gateway.supply({ sums: UsageSums }).sums.ask(question)
    sums.push(...found)
    after = found.length < page ? null : (found.at(-1)?.name ?? null)
  }
  return sums
}

const rowsOf = async (gateway: Gateway, sought: Sought): Promise<readonly Row[]> =>
  (await added(gateway, sought)).map((sum) => ({ ...sum, organization: null }))

/** The rows of one organisation after another. */
const rowsOfEach = async (gateway: Gateway, sought: Sought): Promise<readonly Row[]> => {
  const rows: Row[] = []
  for (const { name: organization } of await added(gateway, { ...sought, by: 'organization' }))
    for (const sum of await added(gateway, { ...sought, organization })) rows.push({ ...sum, organization })
  return rows
}

const printed = (
  by: Group,
  sums: readonly Row[],
  { csv, json }: { readonly csv?: boolean; readonly json?: boolean },
): string => {
  const rows = sums.map(({ name, organization, counts }) => {
    const { requests, input, output, audio_seconds, unpriced, cost_micros } = counts
    return {
      ...{ [by]: name === '' ? '-' : name, ...(organization !== null && { organization }) },
      ...{ requests, input, output, audio_seconds, unpriced, cost: cost_micros / 1e6 },
    }
  })
  if (json) return JSON.stringify(rows, null, 2)
  const whose = ownNames.includes(by) ? ['organization'] : []
  const head = [by, ...whose, 'requests', 'input', 'output', 'audio_seconds', 'unpriced', 'cost']
  const cells = rows.map((row) => head.map((name) => (row as Record<string, string | number>)[name]!))
  return csv
    ? csvOf(head, cells)
    : tableOf(
        head,
        cells.map((row) => row.map(String)),
      )
}
