import { isOpen, wordsOf } from './decisions.ts'
import type { Named } from './typed-decision.ts'
import { BadRequest, UpstreamFailed } from '../../../core/errors.ts'
import type { Clock } from '../../../core/ports/platform.ts'
import type { Decided, DecideCall, Distribution, Question, Upstream, Usage } from '../../../core/ports/upstream.ts'
import { checkDistribution } from './decision-answer.ts'
import { decideByChat } from './decide-by-chat.ts'
import type { Inference } from '../../../core/inference/inference.ts'
import type { Able, Candidate, Entry } from '../../../core/inference/models/catalog-entry.ts'
import type { Consumption } from '../../../core/inference/metering/consumption.ts'
import type { Reservation } from '../../../core/inference/metering/meter.ts'
import { readsOf } from './label-orders.ts'
import { calibrationOf } from './settings.ts'
import { advised, calibrated, softened } from './calibration.ts'
import { refusedIn } from './probabilities.ts'
import { type Estimate, tokensOf } from '../../../core/inference/metering/tokens.ts'
import { totalUsage } from '../total-usage.ts'

/** What a decision needs of the gateway. Calibrations give a `reserve` that charges nobody. */
export interface DecisionNeeds {
  readonly inference: Pick<Inference, 'run'>
  readonly clock: Pick<Clock, 'now'>
  /** Charges the caller. */
  reserve(entry: Entry, estimate: Estimate): Promise<Pick<Reservation<Usage>, 'headers' | 'settle'>>
}

/** Some questions, and the model that is to answer them. */
export interface DecisionTask {
  readonly entry: Entry
  /** The backend that the caller pins. */
  readonly provider: string | null
  readonly questions: readonly Named[]
  /** What every question is asked about, and how. */
  readonly call: Pick<DecideCall, 'state' | 'images' | 'samples' | 'steps'>
  /** When the request came, and ms that all of it may take. */
  readonly began: number
  readonly total: number
  /** True where a declined question leaves the others their answers; otherwise all of it fails. */
  readonly refusals?: boolean
}

/** One model's opinion of some questions. */
export interface Opinion {
  readonly distributions: readonly Distribution[]
  readonly decided: Pick<Decided, 'usage' | 'engine' | 'ignored'>
  /** Null when there was nothing to ask. */
  readonly backend: string | null
  readonly headers: Readonly<Record<string, string>>
}

/** Asks one model, on the caller's bill. Throws UpstreamFailed that names the question which a backend got wrong. */
export const opinionOf = async (
  { inference, reserve, clock }: DecisionNeeds,
  { entry, provider, questions, call, began, total: allowed, refusals = false }: DecisionTask,
  signal: AbortSignal,
): Promise<Opinion> => {
  const open = questions.filter(({ question }) => isOpen(question))
  if (open.length === 0) {
    const decided = { usage: totalUsage([]), engine: 'none' }
    return { distributions: questions.map(() => certain), decided, backend: null, headers: {} }
  }
  const toAnswer = open.map(({ question }) => question)
  refuseTooLong(entry, call, toAnswer)
  const estimate = estimateOf(entry, call, toAnswer)
  const reservation = await reserve(entry, estimate)
  const attempts: Attempted[] = []
  try {
    const found = await inference
      .run(
        { entry, ability: 'decide', provider, total: Math.max(1, allowed - (clock.now() - began)) },
        async (candidate, signal) => {
          const used: Usage[] = []
          attempts.push({ by: candidate, used })
          const whole = { ...call, model: candidate.model, questions: toAnswer }
          return consult(candidate, entry.settings.temperature, whole, signal, used)
        },
        signal,
      )
      .catch((error: unknown) => {
        throw naming(error, open)
      })
    const { answer: decided, backend, by } = found
    // A backend that declines has answered: its breaker counts no fault.
    const declined = refusals ? null : refusedIn(decided.distributions)
    if (declined !== null) throw naming(declined, open)
    const own = decided.usage.estimated && decided.usage.input === 0 ? { ...estimate, estimated: true } : decided.usage
    const answered = attempts.findLastIndex((attempt) => attempt.by.id === by)
    attempts.push({ ...attempts.splice(answered, 1)[0]!, used: [own] })
    const calibration = calibrationOf(entry.settings)
    const given = advised(calibrated(decided.distributions, calibration), toAnswer, calibration)
    let at = 0
    const distributions = questions.map(({ question }) => (isOpen(question) ? given[at++]! : certain))
    return { distributions, decided: { ...decided, usage: usageOf(attempts) }, backend, headers: reservation.headers }
  } finally {
    const paid = attempts.filter(({ used }) => used.length > 0)
    const by = paid.at(-1)?.by
    await reservation.settle(by === undefined ? null : billOf(paid), by?.provider ?? null, by?.id)
  }
}

/** A backend that was asked, and the counts of each prompt that the backend answered. */
interface Attempted {
  readonly by: Pick<Candidate, 'provider' | 'id'>
  readonly used: readonly Usage[]
}

const usageOf = (attempts: readonly Attempted[]): Usage => totalUsage(attempts.flatMap(({ used }) => used))

/** Prompts of each attempt before the last have the price of their own backend. */
const billOf = (attempts: readonly Attempted[]): Consumption => {
  const parts = attempts.map(({ by }, at) => ({ by: by.id, upTo: usageOf(attempts.slice(0, at + 1)) }))
  return { ...usageOf(attempts), ...(parts.length > 1 && { broken: parts.slice(0, -1) }) }
}

/** A choice of one has only one answer, from every model. */
const certain: Distribution = { probabilities: [1], reads: 0 }

const decides = (upstream: Able<'decide'>): upstream is Upstream & Required<Pick<Upstream, 'decide'>> =>
  upstream.decide !== undefined

/** One backend's answer, checked while another may still be asked instead. */
const consult = async (
  { upstream }: Candidate<'decide'>,
  temperature: number,
  call: DecideCall,
  signal: AbortSignal,
  used: Usage[],
): Promise<Decided> => {
  const spent = (usage: Usage) => void used.push(usage)
  const decided = decides(upstream)
    ? await upstream.decide(call, signal, spent)
    : await decideByChat(upstream, call, temperature, signal, undefined, spent)
  used.splice(0, Infinity, decided.usage)
  if (decided.distributions.length !== call.questions.length)
    throw new UpstreamFailed('The backend left questions out', { again: true })
  call.questions.forEach((question, index) => checkDistribution(question, decided.distributions[index], index))
  if (!upstream.decide || temperature === 1) return decided
  const cooled = decided.distributions.map((distribution) => ({
    ...distribution,
    probabilities: softened(distribution.probabilities, temperature),
  }))
  return { ...decided, distributions: cooled }
}

/** A fault that names a question by its place in the call names it by the caller's id instead. */
const naming = (error: unknown, questions: readonly Named[]): unknown => {
  if (!(error instanceof UpstreamFailed) || error.validator === null) return error
  const { again, answered, retryAfter } = error
  const told = Object.entries(error.validator).map(([place, what]) => [pathOf(questions[Number(place)]), what] as const)
  const message = told[0]!.join(': ')
  return new UpstreamFailed(message, { again, answered, retryAfter, validator: Object.fromEntries(told), cause: error })
}

const pathOf = (named: Named | undefined): string => (named ? `questions.${named.id}`.slice(0, 100) : 'questions')

/** A model never decides about a part of a state. Throws BadRequest for a state that no backend holds. */
const refuseTooLong = (
  { candidates }: Entry,
  { state }: DecisionTask['call'],
  questions: readonly Question[],
): void => {
  const most = Math.max(...candidates.map(({ context }) => context ?? Infinity))
  if (tokensOf(wordsOf(state)) + Math.max(...questions.map(wordsIn)) <= most) return
  throw new BadRequest('The state is longer than the window of the model', {
    validator: { state: `expected ${most} tokens at most, with a question` },
    code: 'context_length_exceeded',
  })
}

/** What an image costs to read, about. */
const perImage = 800
/** Marks, closing words and what else a prompt has around the caller's own. */
const around = 40

const estimateOf = (
  entry: Entry,
  { state, images, samples }: DecisionTask['call'],
  questions: readonly Question[],
): Estimate => {
  // A backend that decides by itself reads the state once; a chat model reads it for every prompt.
  const prompted = entry.candidates.some(({ upstream }) => upstream.decide === undefined)
  const reads = questions.map((question) => (prompted ? readsOf(question, samples ?? 1) : 1))
  const prompts = reads.reduce((sum, tokens) => sum + tokens, 0)
  const shared = (tokensOf(wordsOf(state)) + images.length * perImage) * (prompted ? prompts : 1)
  const own = questions.reduce((sum, question, index) => sum + reads[index]! * (around + wordsIn(question)), 0)
  return { input: shared + own, output: prompts }
}

const wordsIn = (question: Question): number =>
  tokensOf([wordsOf(question.instructions), ...labelsOf(question)].join('\n'))

const labelsOf = (question: Question): readonly string[] => {
  if (question.type === 'choice') return question.options.map(({ label, description }) => label + wordsOf(description))
  return (question.type === 'score' ? question.levels : [question.yes, question.no]).map(wordsOf)
}
