import type { Decided } from './decision-answers.ts'
import { Refused, mayPass } from './gateway.ts'
import type { LabelledCase } from './labelled-cases.ts'

export interface AnsweredCase {
  readonly truth: number
  readonly decided: Decided
}

/** What came of one model's cases; fewer than asked for where the reader stopped. */
export interface CaseRun {
  readonly answered: readonly AnsweredCase[]
  readonly unanswered: number
}

export interface CaseQuestions {
  readonly cases: readonly LabelledCase[]
  /** Throws Refused. */
  ask(labelled: LabelledCase): Promise<Decided>
  /** Resolves after so many ms. */
  wait(ms: number): Promise<void>
  /** Hears of each case that is over. */
  heard(): void
}

/** Questions at once: a key has four places, and one of them is left. */
const lanes = 3
/** Ms between the tries of one case. */
const waits = [500, 1_000, 2_000, 4_000] as const
/** Cases without an answer, one after the other, after which nothing more is asked. */
const mostUnanswered = 5

/** The refusal where the last try failed too, or the reader stopped. Throws what does not pass. */
const answerOf = async (
  { ask, wait }: CaseQuestions,
  labelled: LabelledCase,
  signal: AbortSignal,
): Promise<Decided | Refused> => {
  for (let tries = 0; ; tries++) {
    try {
      return await ask(labelled)
    } catch (error) {
      const ms = waits[tries]
      if (!mayPass(error)) throw error
      if (ms === undefined || signal.aborted) return error
      await wait(ms)
    }
  }
}

/** Asks about each case until the reader stops. Throws a refusal that does not pass, went on for too long, or met every case. */
export const runCases = async (given: CaseQuestions, signal: AbortSignal): Promise<CaseRun> => {
  const answered: AnsweredCase[] = []
  const waiting = given.cases.values()
  let [unanswered, row] = [0, 0]
  let [fault, last]: [unknown, Refused | null] = [null, null]
  const lane = async (): Promise<void> => {
    for (const labelled of waiting) {
      if (fault !== null) return
      const decided = await answerOf(given, labelled, signal)
      if (signal.aborted) return
      if (decided instanceof Refused) {
        unanswered++
        last = decided
        if (++row >= mostUnanswered) throw decided
      } else {
        row = 0
        answered.push({ truth: labelled.truth, decided })
      }
      given.heard()
    }
  }
  const guarded = (): Promise<void> =>
    lane().catch((error: unknown) => {
      // A call that ended because the reader stopped is no fault.
      if (!signal.aborted) fault ??= error
    })
  await Promise.all(Array.from({ length: lanes }, guarded))
  // Figures of no answer would tell nothing.
  if (answered.length === 0) fault ??= last
  if (fault !== null) throw fault
  return { answered, unanswered }
}
