import { lazy, plugin } from '../../../core/plugin.ts'
import { type BegunRequest, Observer, type Trace } from '../../../core/ports/observer.ts'
import { Clock } from '../../../core/ports/platform.ts'
import type { RecordedAttempt, RecordedRequest } from './recorded-request.ts'

/** Under this name the SDK of OpenTelemetry registers itself in a process. */
const registered = Symbol.for('opentelemetry.js.api.1')

const isRegistered = (): boolean => registered in globalThis

/** The library loads with the first span of a process with an SDK. */
const telling = lazy(() => import('./genai.ts'))

const mostAttempts = 32

/** Keeps what happens to a request until its end. */
const recordingTrace = (
  begun: BegunRequest,
  now: () => number,
  ended: (request: RecordedRequest, status: number, to: number) => void,
): Trace => {
  const request: RecordedRequest = { begun, attempts: [], model: null, firstToken: null, used: [] }
  return {
    chose: (model) => void (request.model = model),
    asks(start) {
      const attempt: RecordedAttempt = { ...start, from: now(), to: null, outcome: null, status: null }
      if (request.attempts.length < mostAttempts) request.attempts.push(attempt)
      return (outcome, status) => void Object.assign(attempt, { outcome, status, to: now() })
    },
    broke(backend, status) {
      const attempt = request.attempts.findLast((each) => each.backend === backend && each.outcome === 'answered')
      if (attempt !== undefined) Object.assign(attempt, { outcome: 'broke', status, to: now() })
    },
    began: () => void (request.firstToken ??= now()),
    used: (counted) => void request.used.push(counted),
    ended: (status) => ended(request, status, now()),
  }
}

/** Spans and metrics of each request by the GenAI convention, where an SDK is registered in this process. */
export const spans = plugin({
  port: Observer,
  name: 'opentelemetry',
  needs: { clock: Clock },
  create: ({ clock }): Observer => {
    /** Routes whose requests are traced from their beginning. */
    const traced = new Set<string>()
    return {
      isWatching: isRegistered,
      begin(request) {
        if (!isRegistered()) return null
        traced.add(request.route)
        return recordingTrace(
          request,
          () => clock.now(),
          (request, status, to) => void telling().then(({ tellRequest }) => tellRequest(request, status, to)),
        )
      },
      left(route, status, ms, traceparent) {
        if (!isRegistered() || route === 'none' || traced.has(route)) return
        const now = clock.now()
        void telling().then(({ tellPlain }) => tellPlain(route, status, now - ms, now, traceparent))
      },
    }
  },
})
