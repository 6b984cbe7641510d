import memoryCache from '../../adapters/memory/cache.ts'
import metadataStore from '../../adapters/memory/metadata-store.ts'
import memoryLimiter from '../../adapters/memory/rate-limiter.ts'
import type { Caller } from '../../core/access/caller.ts'
import type { Fitting } from '../../core/container.ts'
import { Inference, inference } from '../../core/inference/inference.ts'
import { Ledger } from '../../core/ports/ledger.ts'
import { ledger } from '../../plugins/usage/ledger.ts'
import { usages, type UsageRow } from '../../plugins/usage/usage-rows.ts'
import type { UsageJournal } from '../../plugins/usage/usage-journal.ts'
import { withoutJournal } from '../../plugins/usage/without-journal.ts'
import { Meter } from '../../core/inference/metering/meter.ts'
import { meter } from '../../plugins/usage/meter.ts'
import { Catalog } from '../../core/inference/models/catalog.ts'
import { catalog } from '../../plugins/shared/models/catalog.ts'
import { use } from '../../core/plugin.ts'
import { MetadataStore } from '../../core/ports/metadata-store.ts'
import { Clock, Log, Random } from '../../core/ports/platform.ts'
import { RateLimiter } from '../../core/ports/rate-limiter.ts'
import { Upstream } from '../../core/ports/upstream.ts'
import { Observer } from '../../core/ports/observer.ts'
import { Settings, type SettingsInput } from '../../core/settings.ts'
import { fitted, given } from '../fitted.ts'
import { checkedSettings } from './checked-settings.ts'
import { fakeClock } from './clock.ts'

export const payer: Caller = {
  key: 'key_1',
  organization: 'org_1',
  user: 'u',
  scopes: ['chats.completion'],
  models: null,
  limits: {},
}

/** Nothing but budgets holds. */
export const unlimited = {
  key: { tokensPerMinute: null },
  organization: { tokensPerMinute: null },
} as const

/** A meter with all that it needs and time that passes only when told to; everything stays in this process unless another limiter is given. */
export const metered = (
  upstreams: readonly Upstream[],
  settings: SettingsInput,
  limiter: Fitting<RateLimiter> = use(memoryLimiter),
  journals: Fitting<UsageJournal> = use(withoutJournal),
) => {
  const clock = fakeClock(Date.UTC(2030, 0, 31, 12))
  const events: { readonly event: string; readonly [fact: string]: unknown }[] = []
  const seen: (readonly unknown[])[] = []
  const note = (event: string, facts: object = {}) => void events.push({ event, ...facts })
  const observer: Observer = {
    used: (use) => void seen.push(['used', use]),
    firstToken: (...facts) => void seen.push(['firstToken', ...facts]),
    stands: (...facts) => void seen.push(['stands', ...facts]),
    reached: ({ of, whose, period, percent }) => void seen.push(['reached', of, whose, period, percent]),
  }
  const parts = fitted(
    use(catalog),
    use(inference),
    use(ledger),
    use(meter),
    use(memoryCache),
    use(metadataStore),
    journals,
    limiter,
    ...upstreams.map((upstream) => given(Upstream, upstream.name, () => upstream)),
    given(Observer, 'seen', () => observer),
    given(Settings, 'settings', () => checkedSettings(settings)),
    given(Clock, 'clock', () => clock),
    given(Log, 'log', () => ({ info: note, warn: note, error: note })),
    given(Random, 'random', () => ({ bytes: (n) => new Uint8Array(n), fraction: () => 0 })),
  )
  const supplied = parts.supply({
    catalog: Catalog,
    inference: Inference,
    meter: Meter,
    ledger: Ledger,
    limiter: RateLimiter,
    rows: MetadataStore,
  })
  return {
    ...supplied,
    clock,
    events,
    seen,
    dispose: () => parts.dispose(),
    /** All rows as one. */
    async books(): Promise<Readonly<Record<string, number>>> {
      await clock.pass(2_000)
      const sums: Record<string, number> = {}
      for (const { row } of (await supplied.rows.list(usages, {})).rows as readonly { readonly row: UsageRow }[])
        for (const [name, count] of Object.entries(row))
          if (typeof count === 'number' && !name.startsWith('by:')) sums[name] = (sums[name] ?? 0) + count
      return sums
    },
  }
}

export type Metered = ReturnType<typeof metered>
