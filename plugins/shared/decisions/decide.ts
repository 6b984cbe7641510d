import type { Answer, Answered } from './typed-decision-answer.ts'
import { GatewayError } from '../../../core/errors.ts'
import type { Distribution, Question, Usage } from '../../../core/ports/upstream.ts'
import { namedCalibration } from './settings.ts'
import { answerOf, confidenceOf, measure } from './decision-answer.ts'
import { isRefused } from './probabilities.ts'
import type { Entry } from '../../../core/inference/models/catalog-entry.ts'
import { type DecisionNeeds, type DecisionTask, type Opinion, opinionOf } from './decide-once.ts'
import { totalUsage } from '../total-usage.ts'

/** A model that is asked again about answers whose confidence stays below. */
export interface LargerModel {
  readonly entry: Entry
  readonly below: number
}

/** A matter that larger models may be asked about too, one after the other. */
export interface EscalatingTask extends DecisionTask {
  readonly larger: readonly LargerModel[]
}

/** Answers every question, each by itself. Throws UpstreamFailed that names the question which a backend got wrong. */
export const decide = async (
  deciding: DecisionNeeds,
  task: EscalatingTask,
  signal: AbortSignal,
): Promise<Answered & { readonly headers: Readonly<Record<string, string>> }> => {
  const { entry, questions, call, began } = task
  const first = await opinionOf(deciding, task, signal)
  const { distributions, usage, escalated } = await escalatedFrom(first, deciding, task, signal)

  const answers = new Map<string, Answer>()
  const measures = new Map<string, unknown>()
  let reads = 0
  questions.forEach(({ id, question }, index) => {
    const distribution = distributions[index]!
    answers.set(id, answered(question, distribution))
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
      ...namedCalibration(entry.settings),
      ...(escalated && { escalated }),
      questions: measures,
    },
  }
}

/** The opinions together, and what diagnostics tell of the last escalation; null where none was asked for. */
interface EscalatedAnswer {
  readonly distributions: readonly Distribution[]
  readonly usage: Usage
  readonly escalated: Readonly<Record<string, unknown>> | null
  /** The places of the questions that the last model answered: the next model gets none of the others. */
  readonly open: readonly number[]
}

const answered = (question: Question, distribution: Distribution): Answer =>
  isRefused(distribution) ? { type: 'refusal' } : answerOf(question, distribution)

/** Asks the larger models one after the other, until every answer is sure enough or one of them fails. */
const escalatedFrom = async (
  { distributions, decided: { usage } }: Opinion,
  deciding: DecisionNeeds,
  task: EscalatingTask,
  signal: AbortSignal,
): Promise<EscalatedAnswer> => {
  let told: EscalatedAnswer = { distributions, usage, escalated: null, open: [...task.questions.keys()] }
  const earlier: unknown[] = []
  for (const larger of task.larger) {
    const next = await bettered(told, larger, deciding, task, signal)
    if (next === null) break
    if (told.escalated !== null) earlier.push(told.escalated)
    told = next
    if (next.escalated?.['failed'] === true) break
  }
  return earlier.length === 0 ? told : { ...told, escalated: { ...told.escalated, earlier } }
}

/** Asks a larger model about the answers that are not sure enough, while there is time; null where nothing is to ask. */
const bettered = async (
  before: EscalatedAnswer,
  larger: LargerModel,
  deciding: DecisionNeeds,
  task: EscalatingTask,
  signal: AbortSignal,
): Promise<EscalatedAnswer | null> => {
  const { questions, began, total: allowed } = task
  const { distributions, usage, open } = before
  if (deciding.clock.now() - began >= allowed) return null
  const unsure = open.filter((index) => {
    const distribution = distributions[index]!
    return isRefused(distribution) || confidenceOf(questions[index]!.question, distribution) < larger.below
  })
  if (unsure.length === 0) return null
  const model = larger.entry.name
  try {
    const matter = {
      ...task,
      entry: larger.entry,
      provider: null,
      questions: unsure.map((index) => questions[index]!),
    }
    const second = await opinionOf(deciding, matter, signal)
    return {
      distributions: distributions.map((given, index) => second.distributions[unsure.indexOf(index)] ?? given),
      usage: totalUsage([usage, second.decided.usage]),
      open: unsure,
      escalated: {
        model,
        engine: second.decided.engine,
        backend: second.backend,
        ...namedCalibration(larger.entry.settings),
        questions: unsure.length,
        answers: new Map(
          unsure.map((index) => {
            const { id, question } = questions[index]!
            return [id, answered(question, distributions[index]!)]
          }),
        ),
      },
    }
  } catch (error) {
    // Keeps the first result; the diagnostics report that the escalation failed.
    if (signal.aborted || !(error instanceof GatewayError)) throw error
    return { ...before, escalated: { model, failed: true } }
  }
}
