import type { Tracer } from '@opentelemetry/api'
import { plugin } from '../../../core/plugin.ts'
import { Observer } from '../../../core/ports/observer.ts'
import { Clock } from '../../../core/ports/platform.ts'

/** Under this name the SDK of OpenTelemetry registers itself in a process. */
const registered = Symbol.for('opentelemetry.js.api.1')

let tracer: Tracer | null = null

/** The library loads with the first span of a process with an SDK. */
const spanFor = async (route: string, status: number, startTime: number, endTime: number): Promise<void> => {
  const { SpanKind, context, trace } = await import('@opentelemetry/api')
  tracer ??= trace.getTracer('sealgate')
  const span = tracer.startSpan(route, { kind: SpanKind.SERVER, startTime }, context.active())
  span.setAttribute('http.response.status_code', status).end(endTime)
}

/** A span for each request, where an SDK is registered in this process. */
export const spans = plugin({
  port: Observer,
  name: 'opentelemetry',
  needs: { clock: Clock },
  create: ({ clock }): Observer => ({
    left(route, status, ms) {
      if (!(registered in globalThis) || route === 'none') return
      const now = clock.now()
      void spanFor(route, status, now - ms, now)
    },
  }),
})
