import { resolve } from 'node:path'
import type { Gateway } from '../../../core/gateway.ts'
import { Log } from '../../../core/ports/platform.ts'
import { missingAbilities } from '../config/installed-packages.ts'
import type { Config } from '../config/config.ts'
import type { ShownKey } from '../commands/show-key.ts'
import { version } from '../config/version.ts'
import { type StartFacts, plainLines, firstScreen } from './draw.ts'
import { ownProviders } from './own-address.ts'
import { itself } from './reasons.ts'
import { type Surveyed, survey } from '../survey.ts'
import { takesColour } from './style.ts'

/** In ms: the longest wait for backends and the enclave. */
const patienceMs = 3_000

/** The origin of a start, beside its configuration. */
export interface StartOrigin {
  readonly env: NodeJS.ProcessEnv
  readonly config: Config
  readonly surfaces: readonly string[]
  readonly data: string
  readonly url: string
}

const startOf = async (
  { env, config, surfaces, data, url }: StartOrigin,
  key: ShownKey | null,
): Promise<StartFacts> => {
  const file = env['SEALGATE_CONFIG']
  return {
    version: await version(),
    url,
    surfaces,
    names: config.names,
    configuration: file ? resolve(file) : null,
    data: resolve(data),
    lacks: missingAbilities().map((ability) => ability.name),
    key,
  }
}

/** A backend that is this gateway gets that as its fault, and the log names the provider: each call would come back. */
const withoutItself = (
  { config, url }: StartOrigin,
  { supply }: Pick<Gateway, 'supply'>,
  backends: readonly Surveyed[],
): readonly Surveyed[] => {
  const own = ownProviders(config.providers, url)
  if (own.length === 0) return backends
  const { log } = supply({ log: Log })
  for (const provider of own) log.error('provider.itself', { provider })
  return backends.map((backend) => (own.includes(backend.name) ? { ...backend, models: null, fault: itself } : backend))
}

/** The first screen, or its plain lines, after backends and the enclave have answered or time is up. */
export const drawnScreen = async (
  origin: StartOrigin,
  gateway: Pick<Gateway, 'supply'>,
  key: ShownKey | null,
  terminal: boolean,
): Promise<string> => {
  const [start, surveyed] = await Promise.all([
    startOf(origin, key),
    survey(gateway.supply, AbortSignal.timeout(patienceMs)),
  ])
  const found = { ...surveyed, backends: withoutItself(origin, gateway, surveyed.backends) }
  return terminal ? firstScreen(start, found, takesColour(origin.env)) : plainLines(start, found)
}
