import '../../fakes/unwatched.ts'
import {
  type Attributes,
  type Context,
  type Meter,
  type MeterProvider,
  metrics,
  type Span,
  type SpanOptions,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import OpenAI from 'openai'
import t from 'tap'
import { memory } from '../../../adapters/memory/index.ts'
import { fetch as doors } from '../../../adapters/production/platform.ts'
import { use } from '../../../core/plugin.ts'
import openai from '../../../plugins/providers/openai.ts'
import { backend } from '../../contracts/stage.ts'
import { running } from '../../environments.ts'
import { scripted } from '../../fakes/scripted.ts'
import { until } from '../../until.ts'

/** A span as an SDK is told of it. */
interface Told {
  readonly name: string
  readonly options: SpanOptions
  readonly parent: string | null
  readonly traceId: string
  readonly id: string
  readonly set: Attributes
  failed: boolean
  end: number | null
}

const spans: Told[] = []
const measured: { readonly name: string; readonly value: number; readonly attributes: Attributes }[] = []

/** A provider that keeps what it is told; ids come from the parents, as those of an SDK do. */
const tracer = {
  startSpan(name: string, options: SpanOptions = {}, under?: Context): Span {
    const above = under === undefined ? undefined : trace.getSpanContext(under)
    const id = (spans.length + 1).toString(16).padStart(16, '0')
    const traceId = above?.traceId ?? id.padStart(32, 'f')
    const told: Told = { name, options, parent: above?.spanId ?? null, traceId, id, set: {}, failed: false, end: null }
    spans.push(told)
    const span = {
      spanContext: () => ({ traceId, spanId: id, traceFlags: 1 }),
      setAttribute: (key: string, value: string) => (Object.assign(told.set, { [key]: value }), span),
      setStatus: () => ((told.failed = true), span),
      end: (time: number) => void (told.end = time),
    }
    return span as unknown as Span
  },
} as unknown as Tracer
trace.setGlobalTracerProvider({ getTracer: () => tracer })
const meter = {
  createHistogram: (name: string) => ({
    record: (value: number, attributes: Attributes) => void measured.push({ name, value, attributes }),
  }),
} as unknown as Meter
metrics.setGlobalMeterProvider({ getMeter: () => meter } as MeterProvider)

const secret = 'the herons of Skerry Point'

t.test('one trace goes from the caller to each attempt, by the GenAI convention and without content', async (t) => {
  const broken = await backend(t, () => ({ status: 500, body: '{}' }))
  const good = await backend(
    t,
    scripted(() => [{ say: `I know ${secret}.` }]),
  )
  const upstreams = [
    use(openai, { baseUrl: `${broken.url}/v1`, api: 'chat' }, 'broken'),
    use(openai, { baseUrl: `${good.url}/v1`, api: 'chat' }, 'good'),
  ]
  const small = {
    upstreams: [
      { provider: 'broken', model: 'own-broken', priority: 1 },
      { provider: 'good', model: 'own-good', priority: 2 },
    ],
  }
  const gateway = await running(t, { ...memory(), fetch: use(doors), upstreams }, { models: { small } })
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  const defaultHeaders = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` }
  const client = new OpenAI({ baseURL: `${gateway.base}/v1`, apiKey: gateway.key, maxRetries: 0, defaultHeaders })
  const messages = [{ role: 'user' as const, content: `Tell of ${secret}.` }]
  await client.chat.completions.create({ model: 'small', messages, user: 'ann@example.com' })
  t.ok(await until(async () => spans.length === 3))
  const [server, first, second] = spans as [Told, Told, Told]
  t.same(
    spans.map((span) => span.traceId),
    [traceId, traceId, traceId],
    "all in the caller's trace",
  )
  t.equal(server.parent, '00f067aa0ba902b7', 'below the span of the caller')
  t.match(server, { name: '/v1/chat/completions', set: { 'gen_ai.request.model': 'small' } })
  t.match(server.options.attributes, { 'http.route': '/v1/chat/completions', 'http.response.status_code': 200 })
  t.same([first.parent, second.parent], [server.id, server.id])
  t.match(first, { name: 'chat own-broken', failed: true })
  t.match(first.options.attributes, {
    ...{ 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'broken', 'gen_ai.request.model': 'own-broken' },
    'error.type': '500',
  })
  t.match(second, { name: 'chat own-good', failed: false })
  t.match(second.options.attributes, {
    ...{ 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'good', 'gen_ai.request.model': 'own-good' },
    ...{ 'gen_ai.usage.input_tokens': 19, 'gen_ai.usage.output_tokens': 11, 'sealgate.attempt.cause': 'next' },
  })
  t.ok(spans.every(({ end, options }) => end !== null && end >= (options.startTime as number)))

  const own = (name: string) => measured.filter((one) => one.name === name)
  t.equal(own('gen_ai.client.operation.duration').length, 2)
  t.same(
    own('gen_ai.client.token.usage').map(({ value, attributes }) => [attributes['gen_ai.token.type'], value]),
    [
      ['input', 19],
      ['output', 11],
    ],
  )

  const events = await client.chat.completions.create({ model: 'small', messages, stream: true })
  for await (const event of events) t.ok(event)
  t.ok(await until(async () => own('gen_ai.client.operation.time_to_first_chunk').length === 1))

  const stranger = client.withOptions({ apiKey: 'sk_live_unknown' })
  t.equal(await stranger.models.list().catch(({ status }) => status), 401)
  const refused = () => spans.filter(({ options }) => options.attributes?.['http.response.status_code'] === 401)
  t.ok(await until(async () => refused().length > 0))
  t.match(refused(), [{ traceId, parent: '00f067aa0ba902b7' }], "a refused key is in the caller's trace, too")
  t.equal(refused().length, 1, 'by one span, the first of its route as well')

  spans.length = 0
  for (const traceparent of [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, `00-${traceId}-${secret}-01`]) {
    await client.chat.completions.create({ model: 'small', messages }, { headers: { traceparent } })
  }
  t.ok(await until(async () => spans.filter(({ parent }) => parent === null).length === 2), 'a malformed trace is none')
  t.notMatch(JSON.stringify([spans, measured]), /heron|Skerry|ann@|sk_live/, 'no word of a caller')
})

t.test(
  'requests that no observer begins, and traces of later versions, stand below the span of their caller',
  async (t) => {
    const { base } = await running(t, memory())
    const parentOf = async (traceparent: string) => {
      spans.length = 0
      t.equal((await fetch(`${base}/health/live`, { headers: { traceparent } })).status, 200)
      t.ok(await until(async () => spans.length === 1))
      const { name, parent, traceId } = spans[0] as Told
      t.equal(name, 'GET /health/live')
      return parent === null ? null : `${traceId}-${parent}`
    }
    const place = '4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7'
    for (const known of [`00-${place}-01`, `01-${place}-03`, `cc-${place}-01-what-the-future-brings`])
      t.equal(await parentOf(known), place, known)
    for (const none of [`ff-${place}-01`, `00-${place}-01-more`, `00-${place}-01-`, `01-${place}-012`, `0-${place}-01`])
      t.equal(await parentOf(none), null, none)
  },
)
