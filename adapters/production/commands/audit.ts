import { parseArgs } from 'node:util'
import { commandUsages } from './help.ts'
import { tableOf } from './table.ts'
import { refuseMoreArguments, withGateway } from './with-gateway.ts'

/** Row stores take no number of any size. */
const mostActs = 1_000_000_000

/** Prints the administrative acts to standard output, newest first. */
export const audit = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { organization: { type: 'string' }, limit: { type: 'string', default: '50' }, json: { type: 'boolean' } },
  })
  refuseMoreArguments(positionals, 0, commandUsages.audit)
  const limit = Number(values.limit)
  if (!(Number.isInteger(limit) && limit > 0 && limit <= mostActs))
    throw new Error(`--limit takes a whole number from 1 to ${mostActs}`)
  const { organization, json } = values
  await withGateway(env, async (gateway) => {
    const { rows } = await gateway.audit.list({
      ...(organization !== undefined && { where: { organization } }),
      order: { by: 'at', descending: true },
      limit,
    })
    const acts = rows.map(({ id, row }) => ({ id, ...row, at: new Date(row.at).toISOString() }))
    const head = ['at', 'organization', 'actor', 'action', 'object', 'outcome'] as const
    const cells = acts.map((act) => head.map((name) => act[name] ?? ''))
    process.stdout.write(`${json ? JSON.stringify(acts, null, 2) : tableOf(head, cells)}\n`)
  })
}
