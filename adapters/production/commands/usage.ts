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

/** Around every day of a gateway. */
const [firstDay, lastDay] = ['2000-01-01', '2999-12-31']

/** Sums of one answer. */
const page = 500

/** Prints the sums of usage to standard output. */
export const usage = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> => {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { by: text, from: text, to: text, csv: flag, json: flag },
  })
  refuseMoreArguments(positionals, 0, commandUsages.usage)
  const by = groupOf(values.by ?? 'day')
  const [from, to] = [dayOf(values.from, '--from'), dayOf(values.to, '--to')]
  await withGateway(env, async (gateway) => {
    const sums = await added(gateway, by, from, to)
    process.stdout.write(`${printed(by, sums, values)}\n`)
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
const added = async (gateway: Gateway, by: Group, from = firstDay, to = lastDay): Promise<readonly UsageSum[]> => {
  const sums: UsageSum[] = []
  for (let after: string | null = ''; after !== null;) {
    const question = { by, organization: null, from, to, ...(after !== '' && { after }), limit: page }
    const found: readonly UsageSum[] = await gateway.supply({ sums: UsageSums }).sums.ask(question)
    sums.push(...found)
    after = found.length < page ? null : (found.at(-1)?.name ?? null)
  }
  return sums
}

const printed = (
  by: Group,
  sums: readonly UsageSum[],
  { csv, json }: { readonly csv?: boolean; readonly json?: boolean },
): string => {
  const rows = sums.map(({ name, counts: { requests, input, output, audio_seconds, unpriced, cost_micros } }) => ({
    ...{ [by]: name === '' ? '-' : name, requests, input, output, audio_seconds, unpriced },
    cost: cost_micros / 1e6,
  }))
  if (json) return JSON.stringify(rows, null, 2)
  const head = [by, 'requests', 'input', 'output', 'audio_seconds', 'unpriced', 'cost']
  const cells = rows.map((row) => head.map((name) => (row as Record<string, string | number>)[name]!))
  return csv
    ? csvOf(head, cells)
    : tableOf(
        head,
        cells.map((row) => row.map(String)),
      )
}
