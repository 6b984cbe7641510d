import type { Span, Tracer } from '@opentelemetry/api'

/** Under this name the SDK of OpenTelemetry registers itself in a process. */
const registered = Symbol.for('opentelemetry.js.api.1')

let tracer: Tracer | null = null

/** A span around a request; null, and nothing is loaded for it, where no SDK is registered in this process. */
export const spanOf = async (label: string): Promise<Span | null> => {
  if (!(registered in globalThis)) return null
  const { SpanKind, trace } = await import('@opentelemetry/api')
  tracer ??= trace.getTracer('sealgate')
  return tracer.startSpan(label, { kind: SpanKind.SERVER })
}
