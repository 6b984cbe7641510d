import { type Attributes, type Context, metrics, SpanKind, SpanStatusCode, context, trace } from '@opentelemetry/api'
import type { BegunRequest } from '../../../core/ports/observer.ts'
import type { RecordedAttempt, RecordedRequest } from './recorded-request.ts'

const tracer = trace.getTracer('sealgate')
const meter = metrics.getMeter('sealgate')
const tokens = meter.createHistogram('gen_ai.client.token.usage', { unit: '{token}' })
const durations = meter.createHistogram('gen_ai.client.operation.duration', { unit: 's' })
const firstChunks = meter.createHistogram('gen_ai.client.operation.time_to_first_chunk', { unit: 's' })

/** Later versions may add fields to those of version 00. */
const form = /^(?:00(?=.{53}$)|(?!00|ff)[0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/
const zeros = /^0+$/

/** The caller's own trace, where its header is one. */
const parentOf = (header: BegunRequest['traceparent']): Context => {
  const [, traceId = '', spanId = '', flags = ''] = form.exec(typeof header === 'string' ? header : '') ?? []
  if (traceId === '' || zeros.test(traceId) || zeros.test(spanId)) return context.active()
  return trace.setSpanContext(context.active(), {
    traceId,
    spanId,
    traceFlags: parseInt(flags, 16) & 1,
    isRemote: true,
  })
}

/** What the convention calls the work of a route. */
const operationOf = (route: string): string => {
  if (/embed/i.test(route)) return 'embeddings'
  if (/generateContent/i.test(route)) return 'generate_content'
  return /chat|responses|messages/.test(route) ? 'chat' : 'inference'
}

/** The attempt whose answer the caller was given. */
const answering = ({ attempts }: RecordedRequest): RecordedAttempt | undefined =>
  attempts.findLast(({ outcome }) => outcome === 'answered')

const usageOf = ({ used }: RecordedRequest, attempt: RecordedAttempt): Attributes => {
  const own = used.filter(({ backend }) => backend === attempt.backend)
  if (own.length === 0) return {}
  const sum = (kind: 'input' | 'output' | 'cached' | 'reasoning') => own.reduce((all, each) => all + each[kind], 0)
  return {
    'gen_ai.usage.input_tokens': sum('input'),
    'gen_ai.usage.output_tokens': sum('output'),
    'gen_ai.usage.cache_read.input_tokens': sum('cached'),
    'gen_ai.usage.reasoning.output_tokens': sum('reasoning'),
  }
}

/** One span of an attempt, and what the metrics of the convention tell of it. */
const tellAttempt = (request: RecordedRequest, attempt: RecordedAttempt, under: Context, end: number): void => {
  const { backend, model, cause, outcome, status, from } = attempt
  const isLast = attempt === answering(request)
  // The stream of the answer goes on until the request ends.
  const to = isLast ? end : (attempt.to ?? end)
  const operation = operationOf(request.begun.route)
  const named = {
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': backend,
    'gen_ai.request.model': model,
    ...(outcome !== 'answered' && { 'error.type': String(status ?? outcome ?? 'left') }),
  }
  const usage = isLast ? usageOf(request, attempt) : {}
  const attributes = { ...named, ...usage, 'sealgate.attempt.cause': cause }
  const span = tracer.startSpan(`${operation} ${model}`, { kind: SpanKind.CLIENT, startTime: from, attributes }, under)
  if (outcome === 'failed' || outcome === 'broke') span.setStatus({ code: SpanStatusCode.ERROR })
  span.end(to)
  durations.record((to - from) / 1000, named)
  if (isLast && request.firstToken !== null) firstChunks.record(Math.max(0, request.firstToken - from) / 1000, named)
  for (const type of ['input', 'output'] as const) {
    const count = usage[`gen_ai.usage.${type}_tokens`]
    if (typeof count === 'number') tokens.record(count, { ...named, 'gen_ai.token.type': type })
  }
}

/** The spans of a request: its own in the caller's trace, and one below it for each attempt. */
export const tellRequest = (request: RecordedRequest, status: number, to: number): void => {
  const { route, at, traceparent } = request.begun
  const span = serverSpan(route, status, at, parentOf(traceparent))
  if (request.model !== null) span.setAttribute('gen_ai.request.model', request.model)
  const under = trace.setSpan(context.active(), span)
  for (const attempt of request.attempts) tellAttempt(request, attempt, under, to)
  span.end(to)
}

/** A request that asked no model. */
export const tellPlain = (
  route: string,
  status: number,
  from: number,
  to: number,
  traceparent: BegunRequest['traceparent'],
): void => serverSpan(route, status, from, parentOf(traceparent)).end(to)

const serverSpan = (route: string, status: number, startTime: number, under: Context) =>
  tracer.startSpan(
    route,
    { kind: SpanKind.SERVER, startTime, attributes: { 'http.route': route, 'http.response.status_code': status } },
    under,
  )
