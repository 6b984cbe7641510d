import { hkdfSync } from 'node:crypto'
import type { Fitting } from '../../../core/container.ts'
import { type Gateway, createGateway } from '../../../core/gateway.ts'
import { plugin, use } from '../../../core/plugin.ts'
import type { Guard } from '../../../core/ports/guard.ts'
import { Upstream, type Model, type ModelType } from '../../../core/ports/upstream.ts'
import type { Client } from '../../../plugins/sealed/client/client.ts'
import type { Middleware } from '../../../core/http/middleware.ts'
import { type SettingsInput, ModelSettings } from '../../../core/settings.ts'
import { sealedUpstream } from '../../../plugins/providers/sealed/backend.ts'
import { faultsFor } from '../../../plugins/providers/sealed/faults.ts'
import decision from '../../../plugins/surfaces/decision.ts'
import gemini from '../../../plugins/surfaces/gemini.ts'
import v1 from '../../../plugins/surfaces/v1.ts'
import { memory } from '../../memory/index.ts'
import { fetch } from '../../production/platform.ts'
import { sentenceOf } from '../error-text.ts'
import type { Admission } from '../admission.ts'
import { admitted, sealedAlone } from './middleware.ts'
import * as v from 'valibot'
import { type Ability, entryOf, type Entry } from '../../../core/inference/models/catalog-entry.ts'
import { candidateOf } from '../../../plugins/shared/models/candidate.ts'
import { Catalog } from '../../../core/inference/models/catalog.ts'

/** What the gateway of this machine stands on. */
export interface LocalParts {
  readonly admit: Admission
  readonly client: Client
  /** The key at the gateway behind, from which the secret of kept reasoning is derived. */
  readonly apiKey: string
  /** Sealed streams at once: a key may have few. */
  readonly streams: number
  readonly guards: readonly Fitting<Guard>[]
  /** Middleware behind the admission; none when absent. */
  readonly middleware?: readonly Middleware[]
  /** Ms of silence before a sign of life of a stream. */
  readonly heartbeat?: number | undefined
}

const hour = 3_600_000
const unlimited = { requestsPerSecond: null, concurrentRequests: null, tokensPerMinute: null, tokensPerDay: null, audioMinutesPerDay: null, bytesPerMinute: null } // prettier-ignore

/** Ms for which a call waits while another user of the key has its places. */
const patienceMs = 120_000
const mib = 1024 * 1024

/** The gateway behind has the limits, the retries and the deadlines; here a call waits as long as its program does. */
const settingsWith = (secret: string, heartbeat = 15_000): SettingsInput => ({
  surfaces: ['v1', 'gemini', 'decision'],
  limits: { key: unlimited, organization: unlimited, keyless: { requestsPerSecond: null } },
  timeouts: { total: hour, firstToken: hour, idle: hour, stream: 24 * hour, stalled: hour, heartbeat },
  routing: { retries: 0, breaker: { faults: 1_000_000_000, ratio: 1 }, promptCaches: 'shared' },
  bodies: { audio: 32 * mib, inMemory: { key: 512 * mib, organization: 512 * mib } },
  keepsakes: { secret },
})

/** An ordinary gateway whose only backend is another gateway's enclave. Its own key never leaves this process. */
export const localGateway = async (parts: LocalParts): Promise<Gateway> => {
  const { admit, client, apiKey, streams, guards, middleware = [], heartbeat } = parts
  const faults = faultsFor('caller', sentenceOf)
  const create = () => sealedUpstream(client, { name: 'sealed', streams, faults, patience: patienceMs })
  let credential = ''
  const alone = memory()
  const gateway = createGateway({
    ...alone,
    fetch: use(fetch),
    upstreams: [use(plugin({ port: Upstream, name: 'sealed', create }))],
    parts: [...alone.parts, use(askingCatalog)],
    tools: [],
    surfaces: [use(v1), use(gemini), use(decision)],
    guards,
    middleware: [admitted(admit, () => credential), sealedAlone, ...middleware],
    settings: settingsWith(keepsakeSecret(apiKey), heartbeat),
  })
  credential = (await gateway.keys.create({})).credential
  return gateway
}

/** Programs keep sealed reasoning between turns and runs, so the secret is the same in each run. */
const keepsakeSecret = (apiKey: string): string =>
  Buffer.from(hkdfSync('sha256', apiKey, '', 'sealgate/seal/keepsake', 32)).toString('hex')

const typesOf: Readonly<Record<Ability, ModelType>> = {
  chat: 'CHAT',
  decide: 'DECISION',
  transcribe: 'AUDIO_TRANSCRIPTION',
  speak: 'AUDIO_SPEECH',
  draw: 'IMAGE',
  embed: 'EMBEDDING',
}

/** The models of the one gateway behind: its enclave alone knows which of them there are, so each name is asked for. */
const askingCatalog = plugin({
  port: Catalog,
  name: 'catalog',
  renewed: true,
  needs: { upstreams: Upstream },
  create: ({ upstreams: [upstream] }): Catalog => {
    if (upstream === undefined) throw new Error('A gateway is needed behind this one')
    const entry = ({ id, type, description, created }: Model): Entry => {
      const told = { ...(description !== undefined && { description }), ...(created !== undefined && { created }) }
      const settings = v.parse(ModelSettings, { type, ...told, upstreams: [{ provider: upstream.name }] })
      return entryOf(id, settings, [candidateOf(upstream, id)])
    }
    const list = async (signal: AbortSignal) => (await upstream.models(signal)).map(entry)
    return {
      find: async (name, signal, ability) =>
        ability === undefined
          ? ((await list(signal)).find((listed) => listed.name === name) ?? null)
          : entry({ id: name, type: typesOf[ability] }),
      recall: () => null,
      isWhole: () => true,
      list,
    }
  },
})
