import * as v from 'valibot'
import type { Cache } from '../../../core/ports/cache.ts'
import type { Clock, Log } from '../../../core/ports/platform.ts'
import type { Model, Upstream } from '../../../core/ports/upstream.ts'
import { ModelSettings } from '../../../core/settings.ts'
import { unlessAborted } from '../../../core/abort.ts'
import { statusOf } from '../../../core/inference/routing/attempt.ts'
import { idsOf } from './listed-model.ts'
import { entryOf, type Candidate, type Entry } from '../../../core/inference/models/catalog-entry.ts'
import { candidateOf } from './candidate.ts'

const keyOf = (name: string) => `models/${name}`

/** When the kept list of the provider was read, in Unix ms; null without a list. */
export const listedAt = async (cache: Cache, name: string): Promise<number | null> =>
  (await cache.get<Copy>(keyOf(name)))?.at ?? null

/** Keeps a list that was read now. */
export const keepModels = (cache: Cache, clock: Clock, name: string, models: readonly Model[]): Promise<void> =>
  cache.set<Copy>(keyOf(name), { at: clock.now(), models }, day)

const minute = 60_000
const day = 24 * 60 * minute
/** Ms after which a provider that does not list its models is taken to be down. */
const patienceMs = 5_000

/** A provider's list as the cache keeps it: for a day, so that a provider may be down for so long. */
interface Copy {
  readonly at: number
  readonly models: readonly Model[]
}

/** What was found at the last look. */
interface Known {
  readonly until: number
  readonly entries: ReadonlyMap<string, Entry>
  readonly byId: ReadonlyMap<string, Entry>
  /** Whether every provider has told its models. */
  readonly whole: boolean
}

interface Sources {
  /** Behind the enclave's wall every model that is found is confidential, and none is served in the clear. */
  readonly inside: boolean
  readonly upstreams: readonly Upstream[]
  readonly cache: Cache
  readonly clock: Clock
  readonly log: Log
}

/** A model with every backend that lists it under the same name and type. */
interface Offer {
  readonly model: Model
  readonly candidates: readonly Candidate[]
}

/** Models by name, each with the backends that offer it. The first backend decides the type of a model. */
const offersOf = (upstreams: readonly Upstream[], copies: readonly (Copy | null)[]): ReadonlyMap<string, Offer> => {
  const offers = new Map<string, Offer>()
  for (const [index, upstream] of upstreams.entries())
    for (const model of copies[index]?.models ?? []) {
      const { model: first, candidates } = offers.get(model.id) ?? { model, candidates: [] }
      if (first.type === model.type)
        offers.set(model.id, { model: first, candidates: [...candidates, candidateOf(upstream, model.id)] })
    }
  return offers
}

/** The models of a provider, at most a minute old. Null when the provider is down and has listed nothing before. */
const askingProviders = ({ cache, clock, log }: Pick<Sources, 'cache' | 'clock' | 'log'>) => {
  /** Providers with a failure in the log, until they list again. */
  const failing = new Set<string>()

  return async (upstream: Upstream): Promise<Copy | null> => {
    const key = keyOf(upstream.name)
    const copy = await cache.get<Copy>(key)
    if (copy && clock.now() - copy.at < minute) return copy
    const controller = new AbortController()
    const alarm = clock.alarm(patienceMs, () => controller.abort(new Error('No list of models in time')))
    try {
      const models = await unlessAborted(upstream.models(controller.signal), controller.signal)
      const fresh = { at: clock.now(), models }
      await cache.set(key, fresh, day)
      failing.delete(upstream.name)
      return fresh
    } catch (cause) {
      if (!failing.has(upstream.name)) {
        const [status, stale] = [statusOf(cause), copy !== undefined]
        log.error('models.unlisted', { provider: upstream.name, status, stale }, cause)
      }
      failing.add(upstream.name)
      return copy ?? null
    } finally {
      alarm.off()
    }
  }
}

/** The union of what the providers list. A provider that is down keeps its last list and hides no other provider; a name may also be `provider/name`. */
export const modelLists = ({ upstreams, cache, clock, log, inside }: Sources) => {
  const begun = Math.floor(clock.now() / 1000)
  let known: Known | null = null
  let flight: Promise<Known> | null = null
  const listOf = askingProviders({ cache, clock, log })

  const ask = async (): Promise<Known> => {
    const copies = await Promise.all(upstreams.map(listOf))
    const offers = offersOf(upstreams, copies)
    const names = [...offers.keys()].sort()
    const entries = new Map(names.map((name) => [name, found(inside, begun, name, offers.get(name)!)]))
    const byId = idsOf([...entries.values()])
    const whole = copies.every((copy) => copy !== null)
    return { until: clock.now() + (whole ? minute : patienceMs), entries, byId, whole }
  }

  const renew = (): Promise<Known> =>
    (flight ??= ask()
      .then((fresh) => (known = fresh))
      .finally(() => (flight = null)))

  return {
    async find(name: string, signal: AbortSignal): Promise<Entry | null> {
      const old: Known | null = known
      const there = old && lookUp(old, name)
      if (old && clock.now() < old.until) return there
      const coming = renew()
      // What was there a minute ago is given at once, so that no request waits for the providers' lists.
      if (!there) return lookUp(await unlessAborted(coming, signal), name)
      coming.catch((cause: unknown) => log.error('models.unlisted', {}, cause))
      return there
    },
    /** Null once the list is old, so that `find` renews the list. */
    recall: (name: string): Entry | null => (known && clock.now() < known.until ? lookUp(known, name) : null),
    isWhole: () => known?.whole === true,
    async replaced(providers: readonly string[]) {
      await Promise.all(providers.map((name) => cache.remove(keyOf(name))))
    },
    async list(signal: AbortSignal): Promise<readonly Entry[]> {
      const { entries } = known && clock.now() < known.until ? known : await unlessAborted(renew(), signal)
      return [...entries.values()]
    },
  }
}

/** The end of the year 9999: a later time has another unit than seconds, and no date. */
const lastSecond = 253_402_300_799

/** The entry of a listed model, with the defaults of the configuration for all that a list does not tell. */
const found = (
  inside: boolean,
  begun: number,
  name: string,
  { model, candidates }: { readonly model: Model; readonly candidates: readonly Candidate[] },
) =>
  entryOf(
    name,
    v.parse(ModelSettings, {
      type: model.type,
      standard: !inside,
      confidential: inside,
      created: model.created === undefined || model.created > lastSecond ? begun : model.created,
      ...(model.description !== undefined && { description: model.description }),
      ...(model.modalities && { input_modalities: [...model.modalities] }),
      upstreams: candidates.map(({ provider }) => ({ provider, model: model.id })),
    }),
    candidates,
  )

/** The name, the id in digits, or `provider/name`, which keeps the call at that provider. */
const lookUp = ({ entries, byId }: Known, name: string): Entry | null => {
  const whole = entries.get(name) ?? byId.get(name)
  if (whole) return whole
  const slash = name.indexOf('/')
  if (slash < 1) return null
  const entry = entries.get(name.slice(slash + 1))
  const candidates = entry?.candidates.filter(({ provider }) => provider === name.slice(0, slash)) ?? []
  return entry && candidates.length > 0 ? entryOf(name, entry.settings, candidates) : null
}
