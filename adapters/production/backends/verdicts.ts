import { unlessAborted } from '../../../core/abort.ts'
import { UpstreamFailed } from '../../../core/errors.ts'
import { unverified } from '../../../core/inference/proven.ts'
import type { Alarm, Clock } from '../../../core/ports/platform.ts'
import { type Held, type Opened, heldLines } from './held-lines.ts'

/** The way to a verified backend; one renewal runs at a time, and all waiting calls share it. */
export interface Verdicts<T> {
  /** Rejects while the backend is not verified. A call waits for evidence only when none counts. */
  use<R>(signal: AbortSignal, call: (it: T) => Promise<R>): Promise<R>
  /** Ends the renewal and all running calls. */
  dispose(): Promise<void>
}

/** In ms: the pause after refused evidence, and after a renewal without an answer. */
const pauseMs = 5_000

/**
 * Holds the newest evidence that was accepted, and renews it before its end. Refused evidence ends the evidence before
 * it; a backend without an answer keeps it to its end.
 */
export const verdicts = <T extends Opened>(clock: Clock, renew: number, verify: () => Promise<T>): Verdicts<T> => {
  const lines = heldLines<T>()
  let asking: Promise<Held<T>> | null = null
  let refusal: { readonly fault: UpstreamFailed; readonly until: number } | null = null
  let alarm: Alarm | null = null
  let over = false

  const standing = (): Held<T> | null => {
    const line = lines.newest()
    return line !== null && clock.now() < line.until && !line.it.isMoved() ? line : null
  }

  const renewIn = (ms: number): void => {
    alarm?.off()
    // The next call meets the fault of a renewal by itself.
    if (!over) alarm = clock.alarm(ms, () => void asked().catch(() => undefined))
  }

  const failed = (cause: unknown): UpstreamFailed => {
    const fault = new UpstreamFailed('The backend could not be verified', { code: unverified, again: true, cause })
    const isAnswer = !(cause instanceof UpstreamFailed)
    if (isAnswer) refusal = { fault, until: clock.now() + pauseMs }
    if (isAnswer || standing() === null) lines.drop()
    else renewIn(pauseMs)
    return fault
  }

  const verified = async (): Promise<Held<T>> => {
    const it = await verify().catch((cause: unknown) => {
      throw failed(cause)
    })
    const now = clock.now()
    const line = lines.hold(it, Math.min(it.ends, now + 2 * renew))
    refusal = null
    if (!over) renewIn(Math.max(1, Math.min(renew, (line.until - now) / 2)))
    return line
  }

  const asked = (): Promise<Held<T>> => (asking ??= verified().finally(() => (asking = null)))

  const current = async (signal: AbortSignal): Promise<Held<T>> => {
    const line = standing()
    if (line !== null) return line
    if (refusal !== null && clock.now() < refusal.until) throw refusal.fault
    return unlessAborted(asked(), signal)
  }

  return {
    use: async (signal, call) => lines.use(await current(signal), call),
    async dispose() {
      over = true
      alarm?.off()
      await asking?.catch(() => undefined)
      await lines.close()
    },
  }
}
