import type { Fitting, Needs, Supplied } from '../../../core/container.ts'
import { UpstreamFailed } from '../../../core/errors.ts'
import type { BackendEvidence } from '../../../core/ports/backend-evidence.ts'
import { Clock, type Door, Fetch, Log } from '../../../core/ports/platform.ts'
import type { Upstream } from '../../../core/ports/upstream.ts'
import { type Verdicts, verdicts } from './verdicts.ts'
import { refusalOf } from './refusal-of.ts'
import type { BackendDemand } from './backend-demand.ts'
import { type VerifiedLine, verifyBackend } from './verify-backend.ts'
import type { ServiceLists } from '../../../plugins/sealed/evidence/services/service-policy.ts'
import type { CollateralSettings } from '../config/collateral.ts'
import { completing } from '../evidence/completing.ts'
import { folderSource, keptSource, serviceSource } from '../evidence/sources.ts'

/** What an upstream demands, before its parts are there. */
export interface DemandedBackend extends Omit<BackendDemand, 'services'> {
  readonly services?: ServiceLists
  /** Where certificates and lists come from that a service does not lay beside its evidence. */
  readonly collateral?: CollateralSettings
}

/** Certificates and lists for the evidence of a service; none are needed for another form. */
const serviceDemand = (
  { services: lists, collateral, policy }: DemandedBackend,
  door: Door,
): Pick<BackendDemand, 'services'> => {
  if (lists === undefined || collateral === undefined) return {}
  const { folder, ...makers } = collateral
  const source = keptSource(folder === undefined ? serviceSource(door) : folderSource(folder))
  return { services: { lists, complete: (now) => completing(source, policy, now, makers) } }
}

type Supply = <N extends Needs>(needs: N) => Supplied<N>

/** The door of a backend that is not verified, and of every origin but its own. */
const closed: Door = async () => {
  throw new UpstreamFailed(undefined, { cause: new Error('The evidence covers one origin alone') })
}

const doorTo =
  (origin: string, door: Door): Door =>
  (url, ask) =>
    new URL(url).origin === origin ? door(url, ask) : closed(url, ask)

/** The parts that a plugin needs, with this door in the place of every door to the network. */
const withDoor =
  (supply: Supply, upstream: Door, moved: () => void): Supply =>
  (needs) => {
    const supplied: Record<string, unknown> = { ...supply(needs) }
    for (const [name, { key }] of Object.entries(needs)) {
      if (key !== Fetch.key) continue
      moved()
      supplied[name] = { upstream, outside: closed } satisfies Fetch
    }
    return supplied as Supplied<typeof needs>
  }

/** Abilities whose answers tell the evidence, so that a receipt can name it. */
const telling = ['chat', 'decide', 'transcribe', 'embed', 'embedTokens'] as const
/** Abilities whose answers have no place for the proof. */
const silent = ['countTokens', 'streamTranscript', 'speak', 'streamSpeech', 'draw', 'edit'] as const

type Ability = (call: unknown, signal: AbortSignal, ...more: readonly unknown[]) => Promise<unknown>

/** A backend as the line of one piece of evidence reaches it. */
type Reached = VerifiedLine & { readonly upstream: Upstream }

/** An ability that this file does not name keeps the closed door of `shape`. */
const gated = (shape: Upstream, reached: Verdicts<Reached>): Upstream => {
  const able = (names: readonly (keyof Upstream)[]) => names.filter((name) => shape[name] !== undefined)
  const asking =
    (name: keyof Upstream, tell: (answer: unknown, reached: Reached) => unknown): Ability =>
    (call, signal, ...more) =>
      reached.use(signal, async (reached) =>
        tell(await (reached.upstream[name] as Ability).call(reached.upstream, call, signal, ...more), reached),
      )
  const proven = (answer: unknown, { proof }: Reached) => ({ ...(answer as object), proven: proof })
  return {
    ...shape,
    ...Object.fromEntries(able(telling).map((name) => [name, asking(name, proven)])),
    ...Object.fromEntries(able(silent).map((name) => [name, asking(name, (answer) => answer)])),
    models: (signal) => reached.use(signal, ({ upstream }) => upstream.models(signal)),
    async dispose() {
      await reached.dispose()
      await shape.dispose?.()
    },
  }
}

/**
 * A backend that gets no request before its evidence holds, over connections that end in the key of the evidence. Each
 * piece of evidence has its own instance of the plugin, so that an answer tells the evidence that opened its line.
 */
export const verifiedUpstream = (
  fitting: Fitting<Upstream>,
  form: Fitting<BackendEvidence>,
  demanded: DemandedBackend,
): Fitting<Upstream> => ({
  ...fitting,
  make(supply) {
    const { clock, log, fetch } = supply({ clock: Clock, log: Log, fetch: Fetch })
    const evidence = form.make(supply)
    if ('service' in evidence !== (demanded.services !== undefined))
      throw new Error(`${fitting.name}: services of a policy are for evidence of services that exist, and for no other`)
    const { services: _, ...common } = demanded
    const demand: BackendDemand = { ...common, ...serviceDemand(demanded, fetch.upstream) }
    let hasDoor = false
    const made = (door: Door) => fitting.make(withDoor(supply, door, () => (hasDoor = true)))
    const shape = made(closed)
    if (!hasDoor) throw new Error(`${fitting.name} has no use for evidence: it asks no backend over the network`)
    const reach = async (moved: () => void): Promise<Reached> => {
      const line = await verifyBackend(demand, evidence, clock, moved).catch((fault: unknown) => {
        const reason = refusalOf(fault)
        if (reason !== null) log.warn('backend.refused', { provider: fitting.name, reason })
        throw fault
      })
      const upstream = made(doorTo(demand.origin, line.door))
      const ended = async (work: Promise<void>) => {
        await work
        await upstream.dispose?.()
      }
      return { ...line, upstream, retire: () => ended(line.retire()), close: () => ended(line.close()) }
    }
    return gated(shape, verdicts(clock, demand.renew, reach))
  },
})
