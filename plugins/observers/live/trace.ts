import type { EndAttempt, Trace } from '../../../core/ports/observer.ts'
import type { LiveRequest } from './live-request.ts'

const mostAttempts = 32

/** For an attempt that the list has no room for. */
const unseen: EndAttempt = () => {}

/** Keeps a request up to date and says so after each change; `now` is Unix time in ms. */
export const traceOf = (it: LiveRequest, now: () => number, changed: () => void): Trace => ({
  chose(model) {
    if (it.model === model) return
    it.model = model
    changed()
  },
  asks({ backend, model, cause, streams }) {
    if (it.attempts.length >= mostAttempts) {
      it.attempts_left_out++
      changed()
      return unseen
    }
    const from = now() - it.at
    const place = it.attempts.push({ backend, model, cause, from, ms: null, outcome: null, status: null, streams }) - 1
    changed()
    return (outcome, status) => {
      const attempt = it.attempts[place]
      if (attempt === undefined) return
      attempt.ms = now() - it.at - from
      attempt.outcome = outcome
      attempt.status = status
      if (outcome === 'answered') it.backend = backend
      changed()
    }
  },
  broke(backend, status) {
    const attempt = it.attempts.findLast((each) => each.backend === backend && each.outcome === 'answered')
    if (attempt === undefined) return
    attempt.outcome = 'broke'
    attempt.status = status
    changed()
  },
  began() {
    if (it.first_token !== null) return
    it.first_token = now() - it.at
    changed()
  },
  used({ model, backend, input, output, cached, reasoning }) {
    it.model = model
    it.backend = backend ?? it.backend
    const before = it.tokens ?? { input: 0, output: 0, cached: 0, reasoning: 0 }
    it.tokens = {
      input: before.input + input,
      output: before.output + output,
      cached: before.cached + cached,
      reasoning: before.reasoning + reasoning,
    }
    changed()
  },
  ended(status, ms) {
    it.status = status
    it.ms = ms
    changed()
  },
})
