import type { Answer, Answered } from '../../dialects/typed-decision-answer.ts'
import { GatewayError } from '../../errors.ts'
import type { Distribution, Usage } from '../../ports/upstream.ts'
import { answerOf, confidenceOf, measure } from './decision-answer.ts'
import type { Entry } from '../models/catalog-entry.ts'
import { type DecisionNeeds, type DecisionTask, type Opinion, opinionOf } from './decide-once.ts'
import { totalUsage } from '../metering/tokens.ts'

/** A matter that a larger model may be asked about too. */
export interface EscalatingTask extends DecisionTask {
  /** Who is asked again about answers whose confidence stays below. */
  readonly larger: { readonly entry: Entry; readonly below: number } | null
}

/** Answers every question, each by itself. Throws UpstreamFailed that names the question which a backend got wrong. */
export const decide = async (
  deciding: DecisionNeeds,
  it: EscalatingTask,
  signal: AbortSignal,
): Promise<Answered & { readonly headers: Readonly<Record<string, string>> }> => {
  const { entry, questions, call, began } = it
  const first = await opinionOf(deciding, it, signal)
  const { distributions, usage, escalated } = await bettered(first, deciding, it, signal)

  const answers = new Map<string, Answer>()
  const measures = new Map<string, unknown>()
  let reads = 0
  questions.forEach(({ id, question }, index) => {
    const distribution = distributions[index]!
    answers.set(id, answerOf(question, distribution))
    measures.set(id, measure(distribution))
    reads += distribution.reads ?? 1
  })
  const ignored = (first.decided.ignored ?? []).filter((field) => call[field] !== null)
  return {
    model: entry.name,
    answers,
    usage,
    headers: first.headers,
    diagnostics: {
      engine: first.decided.engine,
      backend: first.backend,
      samples: call.samples ?? 1,
      steps: call.steps ?? 1,
      reads,
      timing_ms: deciding.clock.now() - began,
      ...(ignored.length > 0 && { ignored }),
      ...(entry.settings.calibration && { calibration: entry.settings.calibration.id }),
      ...(escalated && { escalated }),
      questions: measures,
    },
  }
}

/** The opinions together, and what diagnostics tell of the second; null where none was asked for. */
interface EscalatedAnswer {
  readonly distributions: readonly Distribution[]
  readonly usage: Usage
  readonly escalated: Readonly<Record<string, unknown>> | null
}

/** Asks the larger model again about the answers that are not sure enough, while there is time. */
const bettered = async (
  first: Opinion,
  deciding: DecisionNeeds,
  it: EscalatingTask,
  signal: AbortSignal,
): Promise<EscalatedAnswer> => {
  const { larger, questions, began, total: allowed } = it
  const { distributions } = first
  const { usage } = first.decided
  const alone = { distributions, usage, escalated: null }
  if (larger === null || deciding.clock.now() - began >= allowed) return alone
  const unsure = [...questions.keys()].filter(
    (index) => confidenceOf(questions[index]!.question, distributions[index]!) < larger.below,
  )
  if (unsure.length === 0) return alone
  const model = larger.entry.name
  try {
    const matter = {
      ...it,
      entry: larger.entry,
      provider: null,
      questions: unsure.map((index) => questions[index]!),
    }
    const second = await opinionOf(deciding, matter, signal)
    return {
      distributions: distributions.map((given, index) => second.distributions[unsure.indexOf(index)] ?? given),
      usage: totalUsage([usage, second.decided.usage]),
      escalated: {
        model,
        engine: second.decided.engine,
        backend: second.backend,
        ...(larger.entry.settings.calibration && { calibration: larger.entry.settings.calibration.id }),
        questions: unsure.length,
      },
    }
  } catch (error) {
    // Keeps the first result; the diagnostics report that the escalation failed.
    if (signal.aborted || !(error instanceof GatewayError)) throw error
    return { ...alone, escalated: { model, failed: true } }
  }
}
