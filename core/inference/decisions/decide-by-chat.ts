import { badAnswer } from '../../dialects/probabilities.ts'
import { BadRequest } from '../../errors.ts'
import type { BackendAnswer } from '../../ports/backend-evidence.ts'
import type {
  ChatBody,
  Completion,
  Decided,
  DecideCall,
  Distribution,
  Question,
  Upstream,
  Usage,
} from '../../ports/upstream.ts'
import { fanOut } from './fan-out.ts'
import { collectChunks } from '../collect-chunks.ts'
import { marksOf, messagesFor, oneToken, unthinking, weightsFor } from './prompt.ts'
import { average, ordersOf, type Order } from './label-orders.ts'
import { provenBy } from '../proven.ts'
import { inputOf, totalUsage, usageOf } from '../metering/tokens.ts'
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

/**
 * Decisions of a chat model, one question a prompt. `temperature` divides its log-probabilities. Each answered prompt
 * calls `spent`.
 */
export const decideByChat = async (
  upstream: Pick<Upstream, 'chat'>,
  call: DecideCall,
  temperature: number,
  signal: AbortSignal,
  showing?: Showing,
  spent: (usage: Usage) => void = () => {},
): Promise<Decided> => {
  const used: Prompted[] = []
  const taken = new Set<Way>()
  const lessons = learned.get(upstream) ?? new Map<string, number>()
  learned.set(upstream, lessons)

  const complete = async (body: ChatBody, signal: AbortSignal): Promise<Completion> => {
    const answer = await upstream.chat!({ model: call.model, body, stream: false }, signal)
    const completion = answer.kind === 'completion' ? answer.completion : await collectChunks(answer.chunks)
    const usage = completion.usage ? usageOf(completion.usage) : { input: inputOf(body), output: 1, estimated: true }
    used.push({ usage, ...provenBy(answer) })
    spent(usage)
    return completion
  }

  const readBy = async (
    way: Way,
    question: Question,
    order: Order,
    signal: AbortSignal,
  ): Promise<Odds | 'astray' | null> => {
    const marks = marksOf(question, order)
    const weights = way === 'weights'
    const messages = messagesFor(question, order, call.state, call.images, weights)
    if (weights) return weighedOdds(await complete({ messages, ...weightsFor(marks) }, signal), marks) ?? 'astray'
    const shown = await showing?.(marks, call.model, signal)
    const body = { messages, ...oneToken, ...shown, ...(way === 'unthinking' && unthinking) }
    return oddsOf(await complete(body, signal), marks, temperature)
  }

  const read = async (question: Question, order: Order, index: number, signal: AbortSignal): Promise<Odds> => {
    let refusal: BadRequest | null = null
    let step = lessons.get(call.model) ?? 0
    for (;;) {
      const way = ways[step]!
      try {
        const odds = await readBy(way, question, order, signal)
        if (odds === 'astray') throw badAnswer(index)
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

  const readAll = async (
    question: Question,
    order: Order,
    index: number,
    signal: AbortSignal,
  ): Promise<Distribution> => {
    const size = order.length
    const odds =
      size <= atSight
        ? { ...(await read(question, order, index, signal)), order }
        : await readGroups(order, (some, signal) => read(question, some, index, signal), signal)
    const probabilities = new Array<number>(size).fill(0)
    odds.order.forEach((place, shown) => (probabilities[place] = odds.probabilities[shown]!))
    const { labelMass, truncated } = odds
    return { probabilities, ...(labelMass !== undefined && { labelMass }), truncated: truncated ?? false }
  }

  const reads = call.questions.flatMap((question, index) =>
    ordersOf(question, call.samples ?? 1).map((order) => ({ question, index, order })),
  )
  const all = await fanOut(
    reads,
    atOnce,
    ({ question, index, order }, signal) => readAll(question, order, index, signal),
    signal,
  )
  return {
    distributions: call.questions.map((_, index) => average(all.filter((_, read) => reads[read]!.index === index))),
    ...summed(used),
    engine: taken.has('weights') ? 'structured' : 'logprobs',
    ...(call.steps !== null && { ignored: ['steps'] }),
  }
}

type Grouped = Odds & { readonly order: Order }

/**
 * More labels than one read can show: each group by itself, then the groups' winners against each other, which sets the
 * groups in proportion.
 */
const readGroups = async (
  order: Order,
  read: (order: Order, signal: AbortSignal) => Promise<Odds>,
  signal: AbortSignal,
): Promise<Grouped> => {
  const size = Math.ceil(order.length / Math.ceil(order.length / atSight))
  const groups: Order[] = []
  for (let at = 0; at < order.length; at += size) groups.push(order.slice(at, at + size))
  const within = await fanOut(groups, groups.length, read, signal)
  const winners = within.map(({ probabilities }) => probabilities.indexOf(Math.max(...probabilities)))
  const between = await read(
    groups.map((group, at) => group[winners[at]!]!),
    signal,
  )
  const raw = within.flatMap(({ probabilities }, at) => {
    const share = between.probabilities[at]! / probabilities[winners[at]!]!
    return probabilities.map((p) => p * share)
  })
  const sum = raw.reduce((sum, it) => sum + it, 0)
  const parts = [...within, between]
  const masses = parts.flatMap(({ labelMass }) => labelMass ?? [])
  return {
    order,
    probabilities: raw.map((it) => it / sum),
    ...(masses.length === parts.length && { labelMass: Math.min(...masses) }),
    truncated: parts.some(({ truncated }) => truncated === true),
  }
}
