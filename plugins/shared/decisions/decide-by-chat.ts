import { badAnswer, refusal } from './probabilities.ts'
import { BadRequest } from '../../../core/errors.ts'
import type { BackendAnswer } from '../../../core/ports/backend-evidence.ts'
import type {
  ChatBody,
  Completion,
  Decided,
  DecideCall,
  Distribution,
  Question,
  Upstream,
  Usage,
} from '../../../core/ports/upstream.ts'
import { fanOut } from '../fan-out.ts'
import { collectChunks } from '../../../core/inference/collect-chunks.ts'
import { marksOf, messagesFor, oneToken, unthinking, weightsFor } from './prompt.ts'
import { average, ordersOf, type Order } from './label-orders.ts'
import { provenBy } from '../../../core/inference/proven.ts'
import { inputOf, usageOf } from '../../../core/inference/metering/tokens.ts'
import { totalUsage } from '../total-usage.ts'
import { oddsOf, weighedOdds, type Odds } from './token-odds.ts'

/** Reads at once: as many as a request may have questions, so that none waits for another. */
const atOnce = 16
/** More labels than that do not fit among the likeliest tokens. */
const atSight = 20

/** Ways to ask, from the best down: log-probabilities with thinking turned off, the bare ones, weights in JSON. */
const ways = ['unthinking', 'bare', 'weights'] as const
type Way = (typeof ways)[number]

// Learned from refusals, so that each backend is put to the test once for a model.
const learned = new WeakMap<Pick<Upstream, 'chat'>, Map<string, number>>()

/** Fields that make a backend show the log-probabilities of these answers, likely or not. */
export type Showing = (
  marks: readonly string[],
  model: string,
  signal: AbortSignal,
) => Promise<Readonly<Record<string, unknown>>>

/** One answered prompt. */
interface Prompted extends BackendAnswer {
  readonly usage: Usage
}

const summed = (used: readonly Prompted[]) => ({
  usage: totalUsage(used.map(({ usage }) => usage)),
  ...provenBy(used.at(-1)),
})

/** A backend that chats. */
type Chats = Required<Pick<Upstream, 'chat'>>

/** One decision under way. */
interface Reading {
  readonly upstream: Chats
  readonly call: DecideCall
  readonly temperature: number
  readonly showing: Showing | undefined
  readonly spent: (usage: Usage) => void
  readonly used: Prompted[]
  readonly taken: Set<Way>
  /** Of this backend, by model: the first of the ways that it takes. */
  readonly lessons: Map<string, number>
}

/**
 * Decisions of a chat model, one question a prompt. `temperature` divides its log-probabilities. Each answered prompt
 * calls `spent`.
 */
export const decideByChat = async (
  upstream: Chats,
  call: DecideCall,
  temperature: number,
  signal: AbortSignal,
  showing?: Showing,
  spent: (usage: Usage) => void = () => {},
): Promise<Decided> => {
  const lessons = learned.get(upstream) ?? new Map<string, number>()
  learned.set(upstream, lessons)
  const reading: Reading = { upstream, call, temperature, showing, spent, used: [], taken: new Set(), lessons }
  const reads: Read[] = []
  for (const [index, question] of call.questions.entries())
    for (const order of ordersOf(question, call.samples ?? 1)) reads.push({ question, index, order })
  const all = await fanOut(reads, atOnce, (read, signal) => distributionOf(reading, read, signal), signal)
  const byQuestion: Distribution[][] = call.questions.map(() => [])
  for (const [at, { index }] of reads.entries()) byQuestion[index]!.push(all[at]!)
  return {
    distributions: byQuestion.map(average),
    ...summed(reading.used),
    engine: reading.taken.has('weights') ? 'structured' : 'logprobs',
    ...(call.steps !== null && { ignored: ['steps'] }),
  }
}

const complete = async (reading: Reading, body: ChatBody, signal: AbortSignal): Promise<Completion> => {
  const answer = await reading.upstream.chat({ model: reading.call.model, body, stream: false }, signal)
  const completion = answer.kind === 'completion' ? answer.completion : await collectChunks(answer.chunks)
  const usage = completion.usage ? usageOf(completion.usage) : { input: inputOf(body), output: 1, estimated: true }
  reading.used.push({ usage, ...provenBy(answer) })
  reading.spent(usage)
  return completion
}

/** One question, with its place in the call and an order of its labels. */
interface Read {
  readonly question: Question
  readonly index: number
  readonly order: Order
}

/** Fields that a way of asking leaves out. */
const none = {}

/** What a read may show: odds, or how the model declines. */
type Shown = Odds | 'declined' | 'astray'

/** Null where the answer shows no odds. Throws UpstreamFailed for weights in no known form. */
const readBy = async (
  reading: Reading,
  way: Way,
  { question, index, order }: Read,
  signal: AbortSignal,
): Promise<Shown | null> => {
  const { state, images, model } = reading.call
  const marks = marksOf(question, order)
  const weights = way === 'weights'
  const messages = messagesFor(question, order, state, images, weights)
  if (weights) {
    const completion = await complete(reading, { messages, ...weightsFor(marks) }, signal)
    if (refuses(completion)) return 'declined'
    const odds = weighedOdds(completion, marks)
    if (odds === null) throw badAnswer(index)
    return odds
  }
  const shown = reading.showing === undefined ? none : await reading.showing(marks, model, signal)
  const body = Object.assign({ messages }, oneToken, shown, way === 'unthinking' ? unthinking : none)
  const completion = await complete(reading, body, signal)
  return refuses(completion) ? 'declined' : oddsOf(completion, marks, reading.temperature)
}

/** A model that refuses by itself, or whose filter does. */
const refuses = ({ choices: [first] }: Completion): boolean =>
  first?.finish_reason === 'content_filter' || Boolean(first?.message['refusal'])

/** Asks by the best way that the backend takes. */
const oddsFrom = async (reading: Reading, read: Read, signal: AbortSignal): Promise<Shown> => {
  const { lessons, call, taken } = reading
  let refusal: BadRequest | null = null
  for (let step = lessons.get(call.model) ?? 0; ;) {
    const way = ways[step] ?? 'weights'
    try {
      const odds = await readBy(reading, way, read, signal)
      if (typeof odds === 'string') return odds
      if (odds !== null) {
        lessons.set(call.model, Math.max(step, lessons.get(call.model) ?? 0))
        taken.add(way)
        return odds
      }
      step = ways.length - 1
    } catch (error) {
      // Only a refusal of how it was asked is worth another way; when every way is refused, it was the request.
      if (!(error instanceof BadRequest)) throw error
      refusal ??= error
      if (++step === ways.length) throw refusal
    }
  }
}

const distributionOf = async (reading: Reading, read: Read, signal: AbortSignal): Promise<Distribution> => {
  const { order } = read
  const odds =
    order.length <= atSight
      ? await oddsFrom(reading, read, signal)
      : await readGroups(order, (some, signal) => oddsFrom(reading, { ...read, order: some }, signal), signal)
  if (typeof odds === 'string') return refusal(order.length, odds)
  const { probabilities: shown, labelMass, truncated = false } = odds
  const probabilities = new Array<number>(order.length).fill(0)
  for (const [at, place] of order.entries()) probabilities[place] = shown[at] ?? 0
  return labelMass === undefined ? { probabilities, truncated } : { probabilities, labelMass, truncated }
}

/** More labels than one read can show: each group by itself, then the winners, which set the proportions. */
const readGroups = async (
  order: Order,
  read: (order: Order, signal: AbortSignal) => Promise<Shown>,
  signal: AbortSignal,
): Promise<Shown> => {
  const size = Math.ceil(order.length / Math.ceil(order.length / atSight))
  const groups: Order[] = []
  for (let at = 0; at < order.length; at += size) groups.push(order.slice(at, at + size))
  const shown = await fanOut(groups, groups.length, read, signal)
  const within = shown.filter((odds) => typeof odds !== 'string')
  const declined = shown.find((odds) => typeof odds === 'string')
  if (declined !== undefined) return declined
  const winners = within.map(({ probabilities }) => probabilities.indexOf(Math.max(...probabilities)))
  const between = await read(
    groups.map((group, at) => group[winners[at]!]!),
    signal,
  )
  if (typeof between === 'string') return between
  const raw = within.flatMap(({ probabilities }, at) => {
    const share = between.probabilities[at]! / probabilities[winners[at]!]!
    return probabilities.map((p) => p * share)
  })
  const sum = raw.reduce((sum, odds) => sum + odds, 0)
  const parts = [...within, between]
  const masses = parts.flatMap(({ labelMass }) => labelMass ?? [])
  return {
    probabilities: raw.map((odds) => odds / sum),
    ...(masses.length === parts.length && { labelMass: Math.min(...masses) }),
    truncated: parts.some(({ truncated }) => truncated === true),
  }
}
