import { unlessAborted } from '../../../core/abort.ts'
import { Container } from '../../../core/container.ts'
import { use } from '../../../core/plugin.ts'
import { Upstream } from '../../../core/ports/upstream.ts'
import { clock, log as silence, random } from '../../memory/platform.ts'
import type { Config } from '../config/config.ts'
import { chosenUpstream } from '../config/upstreams.ts'
import { fetch } from '../platform.ts'

/** A backend of the enclave that must prove itself, as this process sees it. */
export interface TriedBackend {
  readonly name: string
  readonly fault: unknown
}

/** Asks the backends that only the enclave reaches, and that must prove themselves. */
export const tryEnclaveBackends = async (
  { enclave }: Config,
  signal: AbortSignal,
): Promise<readonly TriedBackend[]> => {
  const demanding = Object.entries(enclave.providers ?? {}).filter(([, { evidence }]) => evidence !== undefined)
  const container = new Container()
  for (const fitting of [use(clock), use(random), use(fetch), use(silence)]) container.fit<unknown>(fitting)
  for (const [name, choice] of demanding)
    container.fit(await chosenUpstream(['enclave', 'providers', name], name, choice))
  const { upstreams } = container.supply({ upstreams: Upstream })
  try {
    return await Promise.all(
      upstreams.map(async (upstream) => {
        const models = unlessAborted(upstream.models(signal), signal)
        const fault: unknown = await models.then(
          () => null,
          (error: unknown) => error,
        )
        return { name: upstream.name, fault }
      }),
    )
  } finally {
    await container.dispose()
  }
}
