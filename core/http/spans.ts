import type { Span, Tracer } from '@opentelemetry/api'

/** Under this name the SDK of OpenTelemetry registers itself in a process. */
const registered = Symbol.for('opentelemetry.js.api.1')

let tracer: Tracer | null = null

/** Whether an SDK is registered in this process. */
export const isTraced = (): boolean => registered in globalThis

/** A span around a request. */
export const spanOf = async (label: string): Promise<Span> => {
  const { SpanKind, trace } = await import('@opentelemetry/api')
  tracer ??= trace.getTracer('sealgate')
  return tracer.startSpan(label, { kind: SpanKind.SERVER })
}
