import type { Caller } from '../access/caller.ts'
import { wordsOf } from '../dialects/decisions.ts'
import type { Answer, Answered } from '../dialects/typed-decision-answer.ts'
import type { Named } from '../dialects/typed-decision.ts'
import { GatewayError, UpstreamFailed } from '../errors.ts'
import type { Clock } from '../ports/host.ts'
import type { Decided, DecideCall, Distribution, Question, Usage } from '../ports/upstream.ts'
import { answerOf, checkDistribution, confidenceOf, measure, sizeOf } from './answer.ts'
import { ask } from './ask.ts'
import type { Inference } from './attempt.ts'
import type { Candidate, Entry } from './entry.ts'
import type { Meter } from './meter.ts'
import { ordersOf } from './rotate.ts'
import { cool } from './token-odds.ts'
import { type Estimate, tokensOf, total } from './tokens.ts'

export interface Deciding {
  readonly inference: Pick<Inference, 'run'>
  readonly meter: Pick<Meter, 'reserve'>
  readonly clock: Pick<Clock, 'now'>
}

export interface Matter {
  readonly caller: Caller
  readonly entry: Entry
  /** Who is asked again about answers whose confidence stays below. */
  readonly larger: { readonly entry: Entry; readonly below: number } | null
  readonly provider: string | null
  readonly questions: readonly Named[]
  /** What every question is asked about, and how. */
  readonly call: Pick<DecideCall, 'state' | 'images' | 'samples' | 'steps'>
  /** When the request came, and ms that all of it may take. */
  readonly began: number
  readonly total: number
}

/** One model's opinion of some questions. */
interface Opinion {
  readonly distributions: readonly Distribution[]
  readonly decided: Pick<Decided, 'usage' | 'engine' | 'ignored'>
  /** Null when there was nothing to ask. */
  readonly backend: string | null
  readonly headers: Readonly<Record<string, string>>
}

/** Answers every question, each by itself. Throws UpstreamFailed that names the question which a backend got wrong. */
export const decide = async (
  { inference, meter, clock }: Deciding,
  { caller, entry, larger, provider, questions, call, began, total: allowed }: Matter,
  signal: AbortSignal,
): Promise<Answered & { readonly headers: Readonly<Record<string, string>> }> => {
  const opinionOf = async (entry: Entry, named: readonly Named[], provider: string | null): Promise<Opinion> => {
    // A choice of one has only one answer, whoever is asked.
    const open = named.filter(({ question }) => sizeOf(question) > 1)
    if (open.length === 0) {
      const decided = { usage: total([]), engine: 'none' }
      return { distributions: named.map(() => ({ probabilities: [1], reads: 0 })), decided, backend: null, headers: {} }
    }
    const asked = open.map(({ question }) => question)
    const estimate = estimateOf(entry, call, asked)
    const { headers, settle } = await meter.reserve(caller, entry, estimate)
    let usage: Usage | null = null
    let backend: string | null = null
    // By whom prompts were answered, whatever came of the whole.
    const used: Usage[] = []
    let prompted: string | null = null
    try {
      const left = Math.max(1, allowed - (clock.now() - began))
      const found = await inference
        .run(
          { entry, ability: 'decide', provider, total: left },
          (candidate, signal) => {
            prompted = candidate.provider
            return put(
              candidate,
              entry,
              { ...call, model: candidate.model, questions: asked },
              signal,
              (usage) => void used.push(usage),
            )
          },
          signal,
        )
        .catch((error: unknown) => {
          throw naming(error, open)
        })
      const { answer: decided } = found
      backend = found.backend
      usage = decided.usage.estimated && decided.usage.input === 0 ? { ...estimate, estimated: true } : decided.usage
      let at = 0
      const distributions = named.map(({ question }) =>
        sizeOf(question) > 1 ? decided.distributions[at++]! : { probabilities: [1], reads: 0 },
      )
      return { distributions, decided: { ...decided, usage }, backend, headers }
    } finally {
      if (usage === null && used.length > 0) await settle(total(used), prompted)
      else await settle(usage, backend)
    }
  }

  const first = await opinionOf(entry, questions, provider)
  const unsure = questions.flatMap(({ question }, index) =>
    larger !== null && confidenceOf(question, first.distributions[index]!) < larger.below ? [index] : [],
  )
  const distributions = [...first.distributions]
  let usage = first.decided.usage
  let escalated: Readonly<Record<string, unknown>> | null = null
  if (larger !== null && unsure.length > 0 && clock.now() - began < allowed) {
    try {
      const again = await opinionOf(
        larger.entry,
        unsure.map((index) => questions[index]!),
        null,
      )
      unsure.forEach((index, at) => (distributions[index] = again.distributions[at]!))
      usage = total([usage, again.decided.usage])
      const { engine } = again.decided
      escalated = { model: larger.entry.name, engine, backend: again.backend, questions: unsure.length }
    } catch (error) {
      // The first opinion still stands; that it was not bettered is told.
      if (signal.aborted || !(error instanceof GatewayError)) throw error
      escalated = { model: larger.entry.name, failed: true }
    }
  }

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
      timing_ms: clock.now() - began,
      ...(ignored.length > 0 && { ignored }),
      ...(escalated && { escalated }),
      questions: measures,
    },
  }
}

/** One backend's answer, checked while another may still be asked instead. */
const put = async (
  { upstream }: Candidate,
  { settings }: Entry,
  call: DecideCall,
  signal: AbortSignal,
  spent: (usage: Usage) => void,
): Promise<Decided> => {
  const { temperature } = settings
  const decided = upstream.decide
    ? await upstream.decide(call, signal)
    : await ask(upstream, call, temperature, signal, undefined, spent)
  if (decided.distributions.length !== call.questions.length) {
    throw new UpstreamFailed('The backend left questions out', { again: true })
  }
  call.questions.forEach((question, index) => checkDistribution(question, decided.distributions[index], index))
  if (!upstream.decide || temperature === 1) return decided
  const cooled = decided.distributions.map((it) => ({ ...it, probabilities: cool(it.probabilities, temperature) }))
  return { ...decided, distributions: cooled }
}

/** A fault that names a question by its place in the call names it by the caller's id instead. */
const naming = (error: unknown, asked: readonly Named[]): unknown => {
  if (!(error instanceof UpstreamFailed) || error.validator === null) return error
  const { again, answered, retryAfter } = error
  const told = Object.entries(error.validator).map(([place, what]) => [pathOf(asked[Number(place)]), what] as const)
  const [path, what] = told[0]!
  const message = path + ': ' + what
  return new UpstreamFailed(message, { again, answered, retryAfter, validator: Object.fromEntries(told), cause: error })
}

const pathOf = (named: Named | undefined): string => (named ? `questions.${named.id}`.slice(0, 100) : 'questions')

/** What an image costs to read, about. */
const perImage = 800
/** Marks, closing words and what else a prompt has around the caller's own. */
const around = 40

const estimateOf = (entry: Entry, { state, images, samples }: Matter['call'], asked: readonly Question[]): Estimate => {
  // A backend that decides by itself reads the state once; a chat model reads it for every prompt.
  const prompted = entry.candidates.some(({ upstream }) => upstream.decide === undefined)
  const reads = asked.map((question) => (prompted ? ordersOf(question, samples ?? 1).length : 1))
  const prompts = reads.reduce((sum, it) => sum + it, 0)
  const shared = (tokensOf(wordsOf(state)) + images.length * perImage) * (prompted ? prompts : 1)
  const own = asked.reduce((sum, question, index) => sum + reads[index]! * (around + wordsIn(question)), 0)
  return { input: shared + own, output: prompts }
}

const wordsIn = (question: Question): number => tokensOf(textsOf(question).join('\n'))

const textsOf = (question: Question): readonly string[] => {
  const instructions = wordsOf(question.instructions)
  switch (question.type) {
    case 'choice':
      return [instructions, ...question.options.map(({ label, description }) => label + wordsOf(description))]
    case 'score':
      return [instructions, ...question.levels.map(wordsOf)]
    case 'noul':
      return [instructions, wordsOf(question.yes), wordsOf(question.no)]
  }
}
