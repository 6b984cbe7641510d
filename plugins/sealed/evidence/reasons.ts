import type { reasons } from './reason-words.ts'

/** A reason from a closed list; `reason-words.ts` has a sentence for each. */
export type Reason = keyof typeof reasons

/** A failed check. `detail` is a name of our own, such as a field or a piece, and never content. */
export class Refusal extends Error {
  readonly reason: Reason
  readonly detail: string | null

  constructor(reason: Reason, detail: string | null = null, cause?: unknown) {
    super(`The evidence is refused: ${reason}`, { cause })
    this.name = 'Refusal'
    this.reason = reason
    this.detail = detail
  }
}

/** Throws a refusal, as an expression. */
export const refuse = (reason: Reason, detail: string | null = null): never => {
  throw new Refusal(reason, detail)
}

/** Throws a refusal unless the condition holds. */
export function demand(holds: boolean, reason: Reason, detail: string | null = null): asserts holds {
  if (!holds) throw new Refusal(reason, detail)
}

/** Runs a reader. An error other than a refusal becomes `evidence_malformed`. */
export const readable = <T>(read: () => T, detail: string): T => {
  try {
    return read()
  } catch (error) {
    throw error instanceof Refusal ? error : new Refusal('evidence_malformed', detail, error)
  }
}
