import type { EndAttempt, Trace } from '../../../core/ports/observer.ts'
import type { LiveRequest } from './live-request.ts'

const mostAttempts = 32

/** For an attempt that the list has no room for. */
const unseen: EndAttempt = () => {}

/** Keeps a request up to date and says so after each change; `now` is Unix time in ms. */
export const traceOf = (request: LiveRequest, now: () => number, changed: () => void): Trace => ({
  chose(model) {
    if (request.model === model) return
    request.model = model
    changed()
  },
  because(why) {
    request.rule = why
    changed()
  },
  asks({ backend, model, cause, streams }) {
    if (request.attempts.length >= mostAttempts) {
      request.attempts_left_out++
      changed()
      return unseen
    }
    const from = now() - request.at
    const place =
      request.attempts.push({ backend, model, cause, from, ms: null, outcome: null, status: null, streams }) - 1
    changed()
    return (outcome, status) => {
      const attempt = request.attempts[place]
      if (attempt === undefined) return
      attempt.ms = now() - request.at - from
      attempt.outcome = outcome
      attempt.status = status
      if (outcome === 'answered') request.backend = backend
      changed()
    }
  },
  broke(backend, status) {
    const attempt = request.attempts.findLast((each) => each.backend === backend && each.outcome === 'answered')
    if (attempt === undefined) return
    attempt.outcome = 'broke'
    attempt.status = status
    changed()
  },
  began() {
    if (request.first_token !== null) return
    request.first_token = now() - request.at
    changed()
  },
  used({ model, backend, input, output, cached, reasoning }) {
    request.model = model
    request.backend = backend ?? request.backend
    const before = request.tokens ?? { input: 0, output: 0, cached: 0, reasoning: 0 }
    request.tokens = {
      input: before.input + input,
      output: before.output + output,
      cached: before.cached + cached,
      reasoning: before.reasoning + reasoning,
    }
    changed()
  },
  ended(status, ms) {
    request.status = status
    request.ms = ms
    changed()
  },
})
