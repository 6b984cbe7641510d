import { one } from './container.ts'
import { GatewayError } from './errors.ts'

/** Whether the gateway still takes work: readiness turns before the last streams have ended. */
export interface Lifecycle {
  /** Fires when the gateway begins to drain: what could go on for long ends. */
  readonly draining: AbortSignal
  /** How many parts of the start still hold readiness back. */
  held: number
  /** Fires when the gateway closes: what goes on behind the requests ends. */
  readonly closing: AbortSignal
}

export const Lifecycle = one<Lifecycle>('Lifecycle')

/** The life of a gateway, and what leads it to its end. */
export const stagesOf = () => {
  const [draining, closing] = [new AbortController(), new AbortController()]
  const lifecycle: Lifecycle = { draining: draining.signal, held: 0, closing: closing.signal }
  return {
    lifecycle,
    drain: () => draining.abort(new GatewayError()),
    close: () => closing.abort(new GatewayError()),
    /** Readiness is held back until the function that this gives is called. */
    hold: (): (() => void) => {
      let holds = true
      lifecycle.held++
      return () => {
        if (holds) lifecycle.held--
        holds = false
      }
    },
  }
}
