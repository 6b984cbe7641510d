import { unlessAborted } from '../../../core/abort.ts'
import { UpstreamFailed } from '../../../core/errors.ts'
import { unverified } from '../../../core/inference/proven.ts'
import type { Alarm, Clock } from '../../../core/ports/platform.ts'

/** Something that evidence opened, such as a line to a backend. */
export interface Opened {
  /** In ms: the end of the evidence. */
  readonly ends: number
  /** True after the backend showed another key, so that new evidence is needed. */
  isMoved(): boolean
  /** Takes no new calls, and resolves after the running ones. */
  retire(): Promise<void>
  /** Ends the running calls. */
  close(): Promise<void>
}

export interface Verdicts<T> {
  /** Rejects while the backend is not verified. A call waits for evidence only when none counts. */
  use<R>(signal: AbortSignal, call: (it: T) => Promise<R>): Promise<R>
  /** Ends the renewal and all running calls. */
  dispose(): Promise<void>
}

/** In ms: the pause after refused evidence, and after a renewal without an answer. */
const pauseMs = 5_000

interface Held<T> {
  readonly it: T
  /** In ms: at this time the evidence counts no more. */
  readonly until: number
  calls: number
  replaced: boolean
}

/**
 * Holds the newest evidence that was accepted, and renews it before its end. Refused evidence ends the evidence before
 * it; a backend without an answer keeps it to its end.
 */
export const verdicts = <T extends Opened>(clock: Clock, renew: number, verify: () => Promise<T>): Verdicts<T> => {
  let held: Held<T> | null = null
  let asking: Promise<Held<T>> | null = null
  let refusal: { readonly fault: UpstreamFailed; readonly until: number } | null = null
  let alarm: Alarm | null = null
  let over = false

  const alive = new Set<T>()

  /** A stream goes on after its call, and retiring waits for it. */
  const retireUnused = ({ it, calls, replaced }: Held<T>): void => {
    const forget = () => alive.delete(it)
    // A line that is closed meanwhile has no more calls to wait for.
    if (replaced && calls === 0) void it.retire().then(forget, forget)
  }

  const hold = (next: Held<T> | null): void => {
    const before = held
    held = next
    if (before === null) return
    before.replaced = true
    retireUnused(before)
  }

  const renewIn = (ms: number): void => {
    alarm?.off()
    if (!over) alarm = clock.alarm(ms, () => void asked().catch(() => undefined))
  }

  const verified = async (): Promise<Held<T>> => {
    try {
      const it = await verify()
      alive.add(it)
      const now = clock.now()
      const next = { it, until: Math.min(it.ends, now + 2 * renew), calls: 0, replaced: false }
      hold(next)
      refusal = null
      if (over) hold(null)
      else renewIn(Math.max(1, Math.min(renew, (next.until - now) / 2)))
      return next
    } catch (cause) {
      const now = clock.now()
      const isAnswer = !(cause instanceof UpstreamFailed)
      const fault = new UpstreamFailed('The backend could not be verified', { code: unverified, again: true, cause })
      if (isAnswer) refusal = { fault, until: now + pauseMs }
      if (isAnswer || (held !== null && (held.until <= now || held.it.isMoved()))) hold(null)
      if (held !== null) renewIn(pauseMs)
      throw fault
    }
  }

  const asked = (): Promise<Held<T>> => (asking ??= verified().finally(() => (asking = null)))

  const current = async (signal: AbortSignal): Promise<Held<T>> => {
    const now = clock.now()
    if (held !== null && now < held.until && !held.it.isMoved()) return held
    if (refusal !== null && now < refusal.until) throw refusal.fault
    return unlessAborted(asked(), signal)
  }

  return {
    async use(signal, call) {
      const it = await current(signal)
      it.calls++
      try {
        return await call(it.it)
      } finally {
        it.calls--
        retireUnused(it)
      }
    },
    async dispose() {
      over = true
      alarm?.off()
      await asking?.catch(() => undefined)
      held = null
      await Promise.all([...alive].map((it) => it.close()))
    },
  }
}
