import { parseArgs } from 'node:util'
import type { Gateway } from '../../../core/gateway.ts'
import { didYouMean } from '../config/did-you-mean.ts'
import { commandUsages } from './help.ts'
import { csvOf, tableOf } from './table.ts'
import { refuseMoreArguments, withGateway } from './with-gateway.ts'

const groups = ['organization', 'team', 'user', 'key', 'model', 'day'] as const
type Group = (typeof groups)[number]

interface Sum {
  requests: number
  input: number
  output: number
  audio_seconds: number
  cost_micros: number
  unpriced: number
}

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
  const group = groups.find((it) => it === text)
  if (group === undefined) throw new Error(`--by takes ${groups.join(', ')}${didYouMean(text, groups)}`)
  return group
}

const dayOf = (text: string | undefined, option: string): string | undefined => {
  const isDay = text === undefined || (/^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)))
  if (!isDay) throw new Error(`${option} takes a day such as 2030-01-31`)
  return text
}

const added = async (gateway: Gateway, by: Group, from?: string, to?: string): Promise<ReadonlyMap<string, Sum>> => {
  const sums = new Map<string, Sum>()
  const between = { field: 'day', ...(from !== undefined && { from }), ...(to !== undefined && { to }) } as const
  const limits = from === undefined && to === undefined ? {} : { between }
  for (let offset = 0; ; offset += page) {
    const { rows } = await gateway.usage({ ...limits, limit: page, offset, countTo: offset + page })
    for (const { row } of rows) {
      const name = row[by] ?? '-'
      const sum = sums.get(name) ?? none()
      for (const field of Object.keys(sum) as (keyof Sum)[]) sum[field] += row[field] ?? 0
      sums.set(name, sum)
    }
    if (rows.length < page) break
  }
  return new Map([...sums].sort(([one], [other]) => (one < other ? -1 : 1)))
}

const none = (): Sum => ({ requests: 0, input: 0, output: 0, audio_seconds: 0, cost_micros: 0, unpriced: 0 })

const printed = (
  by: Group,
  sums: ReadonlyMap<string, Sum>,
  { csv, json }: { readonly csv?: boolean; readonly json?: boolean },
): string => {
  const rows = [...sums].map(([name, { cost_micros, ...sum }]) => ({ [by]: name, ...sum, cost: cost_micros / 1e6 }))
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
