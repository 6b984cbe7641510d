import { parseArgs } from 'node:util'
import { survey } from '../survey.ts'
import { reasonOf } from '../screen/reasons.ts'
import { commandUsages } from './help.ts'
import { tableOf } from './table.ts'
import { refuseMoreArguments, withGateway } from './with-gateway.ts'

/** In ms: the longest wait for backends. */
const patienceMs = 10_000

/** Prints the served models and their providers to standard output. */
export const models = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { json: { type: 'boolean' } },
  })
  refuseMoreArguments(positionals, 0, commandUsages.models)
  await withGateway(env, async (gateway, config) => {
    const { models, backends } = await survey(gateway.supply, AbortSignal.timeout(patienceMs))
    const listing = (name: string) => backends.filter((backend) => backend.models?.some(({ id }) => id === name))
    const rows = models.map(({ name, type }) => ({
      model: name,
      type,
      providers:
        config.models[name]?.upstreams?.map(({ provider }) => provider) ?? listing(name).map((backend) => backend.name),
    }))
    const cells = rows.map(({ model, type, providers }) => [model, type, providers.join(', ')])
    const text = values.json ? JSON.stringify(rows, null, 2) : tableOf(['model', 'type', 'providers'], cells)
    process.stdout.write(`${text}\n`)
    for (const { name, models, fault } of backends)
      if (models === null) process.stderr.write(`sealgate: ${name} lists no models: ${reasonOf(fault)}\n`)
  })
}
