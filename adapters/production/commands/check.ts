import { parseArgs } from 'node:util'
import type { Gateway } from '../../../core/gateway.ts'
import type { Holder } from '../../../core/ports/observer.ts'
import type { Budgets } from '../../../core/settings.ts'
import { pricesIn } from '../prices-check.ts'
import { type Survey, survey } from '../survey.ts'
import { type Config, checkedConfig, settingsOf } from '../config/config.ts'
import { configFromEnv } from '../config/env-config.ts'
import { everyFault } from '../config/every-fault.ts'
import type { Fault } from '../config/faults.ts'
import { faultsOfStart } from '../config/file-faults.ts'
import { pluginNames } from '../config/load-plugin.ts'
import { withOverrides } from '../config/overrides.ts'
import { dataFolder, faultLines, namedFile } from '../config/read-config.ts'
import { still } from '../log/worded-line.ts'
import { reasonOf } from '../screen/reasons.ts'
import { errorText } from '../../local/error-text.ts'
import { tryEnclaveBackends } from './check-backends.ts'
import { commandUsages } from './help.ts'
import { refuseMoreArguments } from './with-gateway.ts'

/** In ms: the longest wait for backends, stores and the enclave. */
const patienceMs = 10_000
/** In ms: an enclave that is connected to and tells no keys by then is gone. */
const silenceMs = 5_000

/**
 * Lists every fault of a configuration and tries its backends, stores and enclave. Exit code 1 when a fault is found.
 */
export const check = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { offline: { type: 'boolean' } },
  })
  refuseMoreArguments(positionals, 1, commandUsages.check)
  const file = positionals[0] ?? env['SEALGATE_CONFIG'] ?? ''
  const parsed = file === '' ? null : await namedFile(file)
  const config = withOverrides((parsed?.value ?? configFromEnv(env, pluginNames('tools'))) as object, env)
  const shown = file === '' ? 'environment' : file
  const refuse = (faults: readonly Fault[]): void => {
    process.exitCode = 1
    print(faultLines(shown, faults, parsed))
  }
  const faults = await everyFault(config, env)
  if (faults.length > 0) return refuse(faults)
  const made = values.offline ? null : await make(checkedConfig(config, env), env).catch(faultsOfStart)
  if (made !== null && !('gateway' in made)) return refuse(made)
  print(`${shown}: no faults`)
  if (made !== null) await reach(made)
}

/** A gateway without a port. It would wait for the start of enclaves that are all gone, so they are left out. */
const make = async (sound: Config, env: NodeJS.ProcessEnv) => {
  const enclaves = await tryEnclaves(sound, AbortSignal.timeout(silenceMs))
  const sealing = sound.sealing && (enclaves.length === 0 || enclaves.some(({ fault }) => fault === null))
  const config = { ...sound, log: { level: 'silent' as const }, sealing }
  // The faults of a configuration come before the gateway is loaded.
  const [{ createGateway }, { production }] = await Promise.all([
    import('../../../core/gateway.ts'),
    import('../index.ts'),
  ])
  return { config, enclaves, gateway: createGateway(await production(config, dataFolder(env)), settingsOf(config)) }
}

/** Asks what a gateway reaches, and closes it again. */
const reach = async ({ config, enclaves, gateway }: Awaited<ReturnType<typeof make>>): Promise<void> => {
  try {
    const signal = AbortSignal.timeout(patienceMs)
    const [found, redis, tried, unpriced] = await Promise.all([
      survey(gateway.supply, signal),
      tryRedis(config),
      tryEnclaveBackends(config, signal),
      holdsMoney(config) ? unpricedModels(gateway, signal) : [],
    ])
    const lines = [
      ...reached(config, found),
      ...redis,
      ...enclaves,
      ...tried.map(({ name, fault }) => triedPart(`enclave.providers.${name}`, fault, 'verified')),
      ...unpriced,
    ]
    for (const { name, fault, fine } of lines) print(fault === null ? `✓ ${name}: ${fine}` : `✗ ${name}: ${fault}`)
    if (lines.some(({ fault }) => fault !== null)) process.exitCode = 1
  } finally {
    await gateway.close().catch((error: unknown) => process.stderr.write(`sealgate: ${errorText(error)}\n`))
  }
}

/** While Redis is down, most calls are refused by default. */
const tryRedis = async ({ limits: { redis } }: Config) => {
  if (redis === undefined) return []
  const { redisFault } = await import('../redis/redis.ts')
  return [triedPart('limits.redis', await redisFault(redis, 'sealgate:limits:probe'), 'writable')]
}

/** A gateway serves with one of several, so it does not tell which of them is gone. */
const tryEnclaves = async (config: Config, signal: AbortSignal) => {
  const { enclaveFaults } = await import('../enclave/connect-enclave.ts')
  const faults = await enclaveFaults(config, signal)
  return faults.map((fault, at) => triedPart(`enclave.connect.${at}`, fault, 'it answers'))
}

const moneyOf = ({ costPerDay = null, costPerWeek = null, costPerMonth = null }: Partial<Budgets>): boolean =>
  costPerDay !== null || costPerWeek !== null || costPerMonth !== null

/** Whether a budget refuses calls of models without a price. */
const holdsMoney = ({ limits, organizations }: Config): boolean => {
  const { soft, unknownPrice } = limits.budgets
  const own = Object.values(organizations)
  const budgets = {
    key: [limits.key],
    team: [limits.team, ...own.flatMap(({ teams }) => Object.values(teams))],
    organization: [limits.organization, ...own.map(({ limits }) => limits)],
    gateway: [limits.gateway],
  }
  const hard = Object.entries(budgets).filter(([holder]) => !soft.includes(holder as Holder))
  return unknownPrice === 'refuse' && hard.some(([, each]) => each.some(moneyOf))
}

/** Models whose calls are refused because their price is unknown. The enclave is tried apart. */
const unpricedModels = async (gateway: Gateway, signal: AbortSignal) => {
  const { models } = await pricesIn(gateway.supply, signal).catch(() => ({ models: [] }))
  return models
    .filter(({ known }) => !known)
    .map(({ model, mode, backend }) => ({
      name: `models.${still(model)}`,
      fault:
        `has no ${mode} price${backend === null ? '' : ` at ${backend}`}, and budgets hold: every call is refused as ` +
        `price_unknown; set price_config.${mode} of the model, or limits.budgets.unknownPrice to "count"`,
      fine: '',
    }))
}

/** What was tried: `fault` in words for an operator, null when it is fine. */
const triedPart = (name: string, fault: unknown, fine: string) => ({
  name,
  fault: fault === null ? null : reasonOf(fault),
  fine,
})

const reached = ({ storage, sealing }: Config, { backends, evidence, enclaveFault, stores }: Survey) => {
  return [
    triedPart('storage.metadata', stores.metadata, storage.metadata?.use ?? 'sqlite'),
    triedPart('storage.blobs', stores.blobs, storage.blobs?.use ?? 'fs'),
    ...backends.map(({ name, models, fault }) =>
      triedPart(`providers.${name}`, fault, `${models?.length ?? 0} models`),
    ),
    ...(sealing ? [triedPart('enclave', enclaveFault, evidence ?? '')] : []),
  ]
}

const print = (text: string): void => void process.stdout.write(`${text}\n`)
