import { badAnswer, refusal } from '../../shared/decisions/probabilities.ts'
import { BadRequest } from '../../../core/errors.ts'
import type { Completion, Decided, DecideCall, Distribution, Question, Usage } from '../../../core/ports/upstream.ts'
import { marksOf, messagesFor } from '../../shared/decisions/prompt.ts'
import { average, ordersOf, type Order } from '../../shared/decisions/label-orders.ts'
import { oddsOf } from '../../shared/decisions/token-odds.ts'
import { totalUsage } from '../../shared/total-usage.ts'

/** What a model in this process would say next. */
export interface NextTokens {
  /** By the token's text: every token that may stand for a mark, in any case and with or without a space ahead. */
  readonly probabilities: ReadonlyMap<string, number>
  readonly usage: Usage
}

/** Whether a token can stand for the mark of a label. */
export const isMark = (token: string): boolean => /^(?:[a-z]|[0-9]|yes|no)$/i.test(token.trim())

/** Decisions of a model whose whole vocabulary is open: one evaluation a read, one after the other, so that they share the state. */
export const decideByVocabulary = async (
  look: (prompt: string, signal: AbortSignal) => Promise<NextTokens>,
  call: DecideCall,
  signal: AbortSignal,
): Promise<Decided> => {
  if (call.images.length > 0) {
    throw new BadRequest('This model reads no images', { validator: { images: 'expected none for this model' } })
  }
  const used: Usage[] = []
  const read = async (question: Question, order: Order, index: number): Promise<Distribution> => {
    const [message] = messagesFor(question, order, call.state, [])
    const { probabilities: seen, usage } = await look(message!.content as string, signal)
    used.push(usage)
    const marks = marksOf(question, order)
    const odds = oddsOf(completionOf(seen), marks, 1)
    if (odds === null) throw badAnswer(index)
    if (odds === 'astray') return refusal(order.length, odds)
    const probabilities = new Array<number>(order.length).fill(0)
    order.forEach((place, shown) => (probabilities[place] = odds.probabilities[shown] ?? 0))
    // All tokens are visible here: a mark without mass takes several tokens, or the model would never say it.
    return { probabilities, labelMass: odds.labelMass ?? 0, truncated: false }
  }

  const distributions: Distribution[] = []
  for (const [index, question] of call.questions.entries()) {
    const reads: Distribution[] = []
    for (const order of ordersOf(question, call.samples ?? 1)) reads.push(await read(question, order, index))
    distributions.push(average(reads))
  }
  return {
    distributions,
    usage: totalUsage(used),
    engine: 'logprobs',
    ...(call.steps !== null && { ignored: ['steps'] }),
  }
}

/** The form in which backends give probabilities: natural logarithms of the likeliest tokens. */
const completionOf = (seen: ReadonlyMap<string, number>): Completion => {
  const tokens = [...seen].map(([token, probability]) => ({ token, logprob: Math.log(probability) }))
  const content = tokens.length === 0 ? [] : [{ ...tokens[0]!, top_logprobs: tokens }]
  return {
    id: '',
    object: 'chat.completion',
    created: 0,
    model: '',
    choices: [{ index: 0, message: { role: 'assistant' }, finish_reason: 'length', logprobs: { content } }],
  }
}
