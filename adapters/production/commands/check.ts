import { parseArgs } from 'node:util'
import type { Survey } from '../../../core/survey.ts'
import { type Config, checkedConfig, settingsOf } from '../config/config.ts'
import { configFromEnv } from '../config/env-config.ts'
import { allFaults, faultLine } from '../config/file-faults.ts'
import { pluginNames } from '../config/load-plugin.ts'
import { dataFolder, readConfig } from '../config/read-config.ts'
import { reasonOf } from '../screen/reasons.ts'
import { errorText } from './error-text.ts'
import { tryEnclaveBackends } from './check-backends.ts'
import { commandUsages } from './help.ts'
import { refuseMoreArguments } from './with-gateway.ts'

/** In ms: the longest wait for backends, stores and the enclave. */
const patienceMs = 10_000

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
  const parsed = file === '' ? null : await readConfig(file).catch((error: Error) => named(file, error))
  const said = parsed?.value ?? configFromEnv(env, pluginNames('tools'))
  const faults = await allFaults(said, env)
  const shown = file === '' ? 'environment' : file
  if (faults.length > 0) {
    process.exitCode = 1
    return print([...faults.map((fault) => faultLine(shown, fault, parsed)), counted(faults.length)].join('\n'))
  }
  print(`${shown}: no faults`)
  if (!values.offline) await reach(checkedConfig(said, env), env)
}

/** Puts the file's name in front of the fault. */
const named = (file: string, error: Error): never => {
  throw new Error(`${file}: ${error.message}`, { cause: error })
}

const counted = (count: number): string => `${count} fault${count === 1 ? '' : 's'}`

/** Makes a gateway without a port, asks what it reaches, and closes it again. */
const reach = async (config: Config, env: NodeJS.ProcessEnv): Promise<void> => {
  const silent = { ...config, log: { level: 'silent' as const } }
  // The faults of a configuration come before the gateway is loaded.
  const [{ createGateway }, { production }] = await Promise.all([
    import('../../../core/gateway.ts'),
    import('../index.ts'),
  ])
  const gateway = createGateway(await production(silent, dataFolder(env)), settingsOf(silent))
  try {
    const signal = AbortSignal.timeout(patienceMs)
    const [survey, tried] = await Promise.all([gateway.survey(signal), tryEnclaveBackends(config, signal)])
    const lines = [
      ...reached(config, survey),
      ...tried.map(({ name, fault }) => triedPart(`enclave.providers.${name}`, fault, 'verified')),
    ]
    print(
      lines.map(({ name, fault, fine }) => (fault === null ? `✓ ${name}: ${fine}` : `✗ ${name}: ${fault}`)).join('\n'),
    )
    if (lines.some(({ fault }) => fault !== null)) process.exitCode = 1
  } finally {
    await gateway.close().catch((error: unknown) => process.stderr.write(`sealgate: ${errorText(error)}\n`))
  }
}

/** What was tried: `fault` in words for an operator, null when it is fine. */
const triedPart = (name: string, fault: unknown, fine: string) => ({
  name,
  fault: fault === null ? null : reasonOf(fault),
  fine,
})

const reached = ({ storage }: Config, { backends, evidence, enclaveFault, stores }: Survey) => {
  return [
    triedPart('storage.metadata', stores.metadata, storage.metadata?.use ?? 'sqlite'),
    triedPart('storage.blobs', stores.blobs, storage.blobs?.use ?? 'fs'),
    ...backends.map(({ name, models, fault }) =>
      triedPart(`providers.${name}`, fault, `${models?.length ?? 0} models`),
    ),
    triedPart('enclave', enclaveFault, evidence ?? ''),
  ]
}

const print = (text: string): void => void process.stdout.write(`${text}\n`)
