import { unlessAborted } from '../../../core/abort.ts'
import { UpstreamFailed } from '../../../core/errors.ts'
import { unverified } from '../../../core/inference/proven.ts'
import type { Alarm, Clock } from '../../../core/ports/platform.ts'
import { type Held, type Opened, heldLines } from './held-lines.ts'

/** The way to a verified backend; one renewal runs at a time, and all waiting calls share it. */
export interface Verdicts<T> {
  /** Rejects while the backend is not verified. A call waits for evidence only when none counts. */
  use<R>(signal: AbortSignal, call: (line: T) => Promise<R>): Promise<R>
  /** Ends the renewal and all running calls. */
  dispose(): Promise<void>
}

/** In ms: the pause after refused evidence, and after a renewal without an answer. */
const pauseMs = 5_000

/**
 * Holds the newest evidence that was accepted, and renews it before its end. Refused evidence ends the evidence before
 * it; a backend without an answer keeps it to its end. A line calls `moved` when a later connection of it is refused.
 */
export const verdicts = <T extends Opened>(
  clock: Clock,
  renew: number,
  verify: (moved: () => void) => Promise<T>,
): Verdicts<T> => {
  const lines = heldLines<T>()
  let asking: Promise<Held<T>> | null = null
  let refusal: { readonly fault: UpstreamFailed; readonly until: number } | null = null
  let moves = 0
  // The next call meets the fault of a renewal by itself.
  const renewal = laterAgain(clock, () => void once().catch(() => undefined))

  const failed = (cause: unknown): UpstreamFailed => {
    const fault = unverifiedBackend(cause)
    const isSilent = cause instanceof UpstreamFailed
    if (!isSilent) refusal = { fault, until: clock.now() + pauseMs }
    if (isSilent && lines.standing(clock.now()) !== null) renewal.in(pauseMs)
    else lines.drop()
    return fault
  }

  /** Ends evidence that was asked for before, and that of a renewal which runs. */
  const moved = (): void => {
    moves++
    lines.drop()
  }

  const verified = async (): Promise<Held<T>> => {
    const before = moves
    const found = await verify(moved).catch((cause: unknown) => {
      throw failed(cause)
    })
    if (moves !== before) {
      await found.close()
      return verified()
    }
    const now = clock.now()
    const line = lines.hold(found, Math.min(found.ends, now + 2 * renew))
    refusal = null
    renewal.in(Math.max(1, Math.min(renew, (line.until - now) / 2)))
    return line
  }

  const once = (): Promise<Held<T>> => (asking ??= verified().finally(() => (asking = null)))
  const current = async (signal: AbortSignal): Promise<Held<T>> => {
    const line = lines.standing(clock.now())
    if (line !== null) return line
    if (refusal !== null && clock.now() < refusal.until) throw refusal.fault
    return unlessAborted(once(), signal)
  }

  return {
    use: async (signal, call) => lines.use(await current(signal), call),
    async dispose() {
      renewal.end()
      await asking?.catch(() => undefined)
      await lines.close()
    },
  }
}

const unverifiedBackend = (cause: unknown): UpstreamFailed =>
  new UpstreamFailed('The backend could not be verified', { code: unverified, again: true, cause })

/** One alarm that each new time puts off, until its end. */
const laterAgain = (clock: Clock, ring: () => void) => {
  let alarm: Alarm | null = null
  let over = false
  return {
    in(ms: number): void {
      alarm?.off()
      if (!over) alarm = clock.alarm(ms, ring)
    },
    end(): void {
      over = true
      alarm?.off()
    },
  }
}
