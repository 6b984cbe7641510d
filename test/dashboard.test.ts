import './fakes/unwatched.ts'
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { memory } from '../adapters/memory/index.ts'
import metadataStore from '../adapters/memory/metadata-store.ts'
import { MetadataStore } from '../core/ports/metadata-store.ts'
import { Upstream } from '../core/ports/upstream.ts'
import type { SettingsInput } from '../core/settings.ts'
import { running } from './environments.ts'
import { actor, failed, say, stop, usage } from './fakes/backends.ts'
import { readQuery } from './operations/promql.ts'
import { until } from './until.ts'
import { given } from './fitted.ts'

/** One line of the text form of Prometheus. */
interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
}

/** The lines as Prometheus keeps them, with the labels that it adds itself. */
const samplesOf = (text: string): readonly Sample[] => {
  const added = { job: 'sealgate', instance: 'gateway:8787' }
  const lines = [...text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)].map(([, name = '', labels = '']) => {
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)]
    return {
      name,
      labels: { ...Object.fromEntries(pairs.map(([, label = '', value = '']) => [label, value])), ...added },
    }
  })
  return [...lines, { name: 'up', labels: added }]
}

const variables: Readonly<Record<string, string>> = { $job: 'sealgate', $route: '.*' }

/** What one selector of a query finds. */
const foundBy = (selector: string, samples: readonly Sample[]): readonly Sample[] => {
  const [, name, matchers = ''] = /^(\w+)(?:\{(.*)\})?/.exec(selector) ?? []
  const all = [...matchers.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g)]
  return samples.filter(
    (sample) =>
      sample.name === name &&
      all.every(([, label = '', sign = '', text = '']) => {
        const wanted = variables[text] ?? text
        const value = sample.labels[label] ?? ''
        const matches = sign.endsWith('~') ? new RegExp(`^(?:${wanted})$`).test(value) : value === wanted
        return matches !== sign.startsWith('!')
      }),
  )
}

const selectorsOf = (query: string): readonly string[] =>
  readQuery(query).metrics.map((name) => new RegExp(`\\b${name}(?:\\{[^}]*\\})?`).exec(query)?.[0] ?? name)

const price = { prompt_price_per_k: 0.001, completion_price_per_k: 0.002 }
const settings: SettingsInput = {
  models: {
    small: {
      upstreams: [
        { provider: 'broken', priority: 1 },
        { provider: 'whole', priority: 2 },
      ],
      price_config: { standard: { eu: price } },
      continues: true,
    },
    lonely: { upstreams: [{ provider: 'broken' }] },
    free: { upstreams: [{ provider: 'whole' }] },
  },
  organizations: { default: { teams: { red: { costPerDay: 100 } } } },
  limits: { organization: { costPerDay: 100 }, key: { requestsPerSecond: 15 }, budgets: { unknownPrice: 'count' } },
  routing: { retries: 0, breaker: { faults: 3 } },
}
const messages = [{ role: 'user', content: 'Say it.' }]
const chat = (model: string, stream = false) => ({ model, stream, max_tokens: 100, messages })

t.test('each panel of the dashboard has data of a gateway that was used', async (t) => {
  const broken = actor('broken', [say('Hel'), failed()], failed())
  const whole = actor('whole', [say('Hello'), stop, usage(400, 100)])
  const rows: MetadataStore = metadataStore.create({}, {}, 'rows')
  let isDown = false
  const falling: MetadataStore = {
    ...rows,
    get: (...asked) => (isDown ? Promise.reject(new Error('down')) : rows.get(...asked)),
    list: (...asked) => (isDown ? Promise.reject(new Error('down')) : rows.list(...asked)),
  }
  const gateway = await running(
    t,
    {
      ...memory(),
      metadataStore: given(MetadataStore, 'falling', () => falling),
      upstreams: [broken, whole].map((upstream) => given(Upstream, upstream.name, () => upstream)),
    },
    settings,
  )
  const { credential } = await gateway.gateway.keys.create({ team: 'red' })
  const ofTeam = { authorization: `Bearer ${credential}` }
  const ask = async (body: object, headers: Record<string, string> = ofTeam) => {
    const answer = await gateway.call('POST', '/std/chat/completions', body, headers)
    await answer.text()
    return answer.status
  }
  t.equal(await ask(chat('small', true)), 200, 'a broken stream is rescued')
  t.equal(await ask(chat('small')), 200, 'another backend answers')
  for (let asked = 0; asked < 4; asked++) await ask(chat('lonely'))
  t.equal(await ask(chat('free')), 200, 'a call without a price')
  t.equal(await ask(chat('free'), { authorization: 'Bearer none' }), 401)
  const crowd = await Promise.all(Array.from({ length: 60 }, () => ask(chat('free'))))
  t.ok(crowd.includes(429), 'a limit refuses')
  isDown = true
  t.equal((await fetch(`${gateway.base}/health/ready`)).status, 503, 'it is not ready')
  isDown = false

  const told = async () => (await gateway.call('GET', '/metrics')).text()
  t.ok(await until(async () => (await told()).includes('sealgate_budget_share{')), 'budgets are told')
  const samples = samplesOf(await told())
  const { panels } = JSON.parse(await readFile('examples/production/dashboard.json', 'utf8')) as {
    readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[]
  }
  for (const { title, targets } of panels)
    for (const selector of targets.flatMap(({ expr }) => selectorsOf(expr)))
      t.ok(foundBy(selector, samples).length > 0, `${title}: ${selector}`)
  for (const name of ['failovers', 'rescues'])
    t.match(await told(), new RegExp(`^sealgate_${name}_total\\{provider="whole"\\} [1-9]`, 'm'), `${name} are counted`)
  const refused = samples.filter(({ name }) => name === 'sealgate_limited_total')
  t.ok(
    refused.some(({ labels }) => labels['limit'] === 'requests'),
    'a limit has its name',
  )
  const isLogged = (name: string, wanted: Readonly<Record<string, string>>) =>
    gateway.logged.some(
      ({ event, facts }) =>
        event === name &&
        Object.entries(wanted).every(([fact, value]) =>
          Object.entries(facts).some(([own, is]) => own === fact && is === value),
        ),
    )
  const failedLine = gateway.logged.find(
    ({ event, facts }) => event === 'backend.failed' && facts['provider'] === 'broken',
  )
  t.match(failedLine?.facts, { model: 'small', request: /^[0-9a-f-]{36}$/ }, 'the log names the model of a failed call')
  const requestIn = ({ facts }: { readonly facts: object }) => 'request' in facts && facts.request
  t.match(
    gateway.logged.find((line) => line.event === 'request' && requestIn(line) === requestIn(failedLine ?? line))?.facts,
    { model: 'small', backend: 'whole', tokens: 508, team: 'red' },
    'the line of its request tells who answered, what was used, and for which team',
  )
  t.ok(isLogged('fault', { backend: 'broken', model: 'lonely' }), 'and a fault tells backend and model')
  t.strictSame(foundBy('sealgate_nothing{job="$job"}', samples), [], 'a metric that nobody makes is not found')
})
