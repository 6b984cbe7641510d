import {
  type MeterProvider,
  type Span,
  type SpanContext,
  type TracerProvider,
  metrics,
  trace,
} from '@opentelemetry/api'

/** Stands for an SDK and its collector: all that a process tells of its spans and measures, as text. */
export const toldSpans = (): { readonly text: () => string; readonly spans: () => number } => {
  const told: string[] = []
  let spans = 0
  const tell = (...all: readonly unknown[]): void => void told.push(JSON.stringify(all, plainly))
  const spanOf = (spanContext: SpanContext): Span =>
    new Proxy({} as Span, {
      get: (_, name) =>
        name === 'spanContext'
          ? () => spanContext
          : (...given: readonly unknown[]) => {
              tell(name, ...given)
              return spanOf(spanContext)
            },
    })
  const startSpan = (name: string, options: unknown, above: unknown): Span => {
    tell('span', name, options, trace.getSpanContext(above as never))
    const id = (++spans).toString(16)
    return spanOf({ traceId: id.padStart(32, 'f'), spanId: id.padStart(16, '0'), traceFlags: 1 })
  }
  const instrument = { record: (...given: readonly unknown[]) => tell('measured', ...given) }
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) } as unknown as TracerProvider)
  metrics.setGlobalMeterProvider({
    getMeter: () => ({ createHistogram: () => instrument }),
  } as unknown as MeterProvider)
  return { text: () => told.join('\n'), spans: () => spans }
}

/** A span tells an error by message and stack, as an exporter writes both. */
const plainly = (_: string, value: unknown): unknown => {
  if (value instanceof Error) return [value.name, value.message, value.stack, value.cause]
  return value instanceof Map ? [...value] : value
}
