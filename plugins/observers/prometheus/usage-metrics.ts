import { Gauge } from 'prom-client'
import * as v from 'valibot'
import { plugin } from '../../../core/plugin.ts'
import { Clock } from '../../../core/ports/platform.ts'
import { section } from '../../../core/ports/section.ts'
import { Settings } from '../../../core/settings.ts'
import { Observer } from '../../../core/ports/observer.ts'
import { Metrics } from './metrics.ts'
import { countsIn, timesIn } from './rows.ts'

/** Seconds. */
const buckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const kinds = ['input', 'output', 'cached', 'reasoning'] as const
/** Values of one label; whatever comes after them is `other`. */
const mostValues = 200

const bounded = (): ((value: string) => string) => {
  const known = new Set<string>()
  return (value) => {
    if (known.size < mostValues) known.add(value)
    return known.has(value) ? value : 'other'
  }
}

const shape = v.optional(
  v.strictObject({
    /** Whether metrics have tokens and costs by the id of each key. */
    keys: v.optional(v.boolean(), false),
    /** Names of tags whose values are labels. */
    tags: v.optional(
      v.pipe(v.array(v.pipe(v.string(), v.regex(/^[A-Za-z0-9][\w.-]{0,31}$/, 'the name of a tag'))), v.maxLength(8)),
      [],
    ),
  }),
  {},
)

/** What metrics tell beyond models and teams: an operator decides, since tags are words of callers. */
export const metricsSettings = section('metrics', shape, { fixed: ['metrics'] })

/** What is measured of use: models, organisations and teams by name, as many as fit; keys and tags as the settings say. */
export const usageMetrics = plugin({
  port: Observer,
  name: 'metrics',
  sections: [metricsSettings],
  needs: { metrics: Metrics, settings: Settings, clock: Clock },
  create: ({ metrics: { registry }, settings, clock }): Observer => {
    const counter = (name: string, help: string, names: readonly string[]) => countsIn(registry, name, help, names)
    const tokens = counter(
      'sealgate_tokens_total',
      'Tokens of answered calls; cached are part of input, reasoning of output.',
      ['model', 'backend', 'kind'],
    )
    const cost = counter('sealgate_cost_total', 'What answered calls cost, in the currency of the prices.', [
      'model',
      'backend',
    ])
    const unpriced = counter('sealgate_unpriced_total', 'Answered calls whose price is unknown.', ['model', 'backend'])
    const teamTokens = counter('sealgate_team_tokens_total', 'Tokens of answered calls by team.', ['team', 'kind'])
    const teamCost = counter('sealgate_team_cost_total', 'What answered calls of a team cost.', ['team'])
    const measured = metricsSettings.of(settings)
    /** What an operator did not choose is in no metric. */
    const ofKeys = measured.keys && {
      tokens: counter('sealgate_key_tokens_total', 'Tokens of answered calls by key.', ['key', 'kind']),
      cost: counter('sealgate_key_cost_total', 'What answered calls of a key cost.', ['key']),
    }
    const ofTags = measured.tags.length > 0 && {
      tokens: counter('sealgate_tag_tokens_total', 'Tokens of answered calls by tag.', ['tag', 'value', 'kind']),
      cost: counter('sealgate_tag_cost_total', 'What answered calls with a tag cost.', ['tag', 'value']),
    }
    const first = timesIn(
      registry,
      'sealgate_first_token_seconds',
      'Time from the reservation of a stream to its first token.',
      ['model'],
      buckets,
    )
    const shares = new Map<string, { readonly labels: Record<string, string>; readonly until: number }>()
    const share = new Gauge({
      name: 'sealgate_budget_share',
      help: 'The part of a budget that is used or reserved.',
      labelNames: ['of', 'whose', 'period'],
      aggregator: 'max',
      registers: [registry],
      // A budget that nobody has used since its window ended is whole again.
      collect() {
        for (const [budget, { labels, until }] of shares) {
          if (until > clock.now()) continue
          this.set(labels, 0)
          shares.delete(budget)
        }
      },
    })
    const warnings = counter('sealgate_budget_warnings_total', 'Budgets that reached 50, 80 or 100 percent.', [
      'of',
      'period',
      'percent',
    ])
    const [models, organizations, teams, keys] = [bounded(), bounded(), bounded(), bounded()]
    const values = new Map(measured.tags.map((tag) => [tag, bounded()]))
    const tagsOf = (all: readonly string[]) =>
      all.flatMap((pair) => {
        const [tag = '', value = ''] = pair.split('=', 2)
        const known = values.get(tag)
        return known === undefined ? [] : [{ tag, value: known(value) }]
      })
    return {
      used(used) {
        const { backend, cost: micros, organization } = used
        const model = models(used.model)
        const team = used.team === null ? null : teams(`${organization}/${used.team}`)
        for (const kind of kinds) {
          const count = used[kind]
          if (count === 0) continue
          tokens(count, model, backend, kind)
          if (team !== null) teamTokens(count, team, kind)
          if (ofKeys) ofKeys.tokens(count, keys(used.key), kind)
          if (ofTags) for (const { tag, value } of tagsOf(used.tags)) ofTags.tokens(count, tag, value, kind)
        }
        if (micros === null) return unpriced(1, model, backend)
        cost(micros / 1e6, model, backend)
        if (team !== null) teamCost(micros / 1e6, team)
        if (ofKeys) ofKeys.cost(micros / 1e6, keys(used.key))
        if (ofTags) for (const { tag, value } of tagsOf(used.tags)) ofTags.cost(micros / 1e6, tag, value)
      },
      firstToken: (model, ms) => first(ms / 1000, models(model)),
      stands(of, whose, period, part, until) {
        if (of === 'key') return
        const names = of === 'team' ? teams : organizations
        const labels = { of, whose: of === 'gateway' ? '' : names(whose), period }
        shares.set(Object.values(labels).join('\n'), { labels, until })
        share.set(labels, part)
      },
      reached: ({ of, period, percent }) => warnings(1, of, period, percent),
    }
  },
})
