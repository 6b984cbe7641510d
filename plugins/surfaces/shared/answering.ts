import { type ChatRequest, endMark, printCompletion, split } from '../../../core/dialects/chat-completions.ts'
import type { DialectEvent, EventWriter } from '../../../core/dialects/event.ts'
import { printJson } from '../../shared/print-json.ts'
import { asksUsage, chunkPrinter, withoutUsage } from '../../shared/repeated-chunks.ts'
import { sentenceOf } from '../../../core/dialects/sentence.ts'
import type { GatewayError } from '../../../core/errors.ts'
import { sessionOf } from './session.ts'
import { triesOf } from '../../../core/inference/routing/tries.ts'
import type { Chunk, Completion, Message } from '../../../core/ports/upstream.ts'
import type { Asked, Talk } from './talk.ts'

/** A chat in the common format, whose chunks `shown` words. */
export const commonTalk =
  (shown: Shown) =>
  ({ id, record, input, caller, headers, pace }: Asked<ChatRequest>): Talk => {
    const { model, provider, stream, body } = split(input)
    const understood = { body, dropped: [] }
    return {
      ...{ caller, record, pace, model, provider, streams: stream },
      session: sessionOf(headers, body['prompt_cache_key']),
      tries: triesOf(headers),
      understand: () => understood,
      whole: wholeChat,
      writing: (name) => writing(name, asksUsage(body), shown),
      broken: (error) => broken(error, id),
    }
  }

/** The whole answer of a chat in the common format. */
export const wholeChat: Talk['whole'] = ({ completion, text }, name) =>
  text == null || text.length > atOnceCharacters
    ? printJson(wholeChoices(completion, name))
    : printCompletion(wholeChoices(completion, completion.model), name, wholeText(completion, text))

/** Characters of a text that are changed in one turn of the loop. */
const atOnceCharacters = 1024 * 1024

/** Each choice says whether there are log-probabilities and a refusal, as clients with schemas expect. */
const wholeChoices = (completion: Completion, model: string): Completion => ({
  ...completion,
  model,
  choices: completion.choices.map((choice) => ({
    ...choice,
    logprobs: choice.logprobs ?? null,
    message: { refusal: null, ...choice.message, ...citedPages(choice.message) },
  })),
})

/** Pages are all that a message of this dialect can cite. */
const citedPages = ({ annotations }: Message): Partial<Message> =>
  Array.isArray(annotations) ? { annotations: annotations.filter(({ type }) => type === 'url_citation') } : {}

/** The same in the backend's own text; undefined where its choices differ, or have no place for it. */
const wholeText = ({ choices }: Completion, text: string): string | undefined => {
  const lacking = (isLacking: (choice: Completion['choices'][number]) => boolean) => choices.filter(isLacking).length
  const odds = lacking(({ logprobs }) => logprobs === undefined)
  const refusals = lacking(({ message }) => message['refusal'] === undefined)
  if (odds + refusals === 0) return text
  if ((odds || choices.length) + (refusals || choices.length) !== 2 * choices.length) return undefined
  let found = 0
  const whole = text.replace(/"message"\s*:\s*\{(?=\s*")/g, () => {
    found++
    return `${odds > 0 ? '"logprobs":null,' : ''}"message":{${refusals > 0 ? '"refusal":null,' : ''}`
  })
  return found === choices.length ? whole : undefined
}

/** A chunk under the caller's name of the model; `json` is the chunk as the backend words it, where nothing was changed. */
export type Shown = (chunk: Chunk, model: string, json: string | null) => string

/** Chunks under the caller's name of the model; the end mark behind them. */
const printing =
  (model: string, usage: boolean, shown: Shown) =>
  (chunk: Chunk, json: string | null): string | null => {
    const told = usage ? chunk : withoutUsage(chunk)
    return told && shown(told, model, told === chunk ? json : null)
  }

export const writing = (model: string, usage: boolean, shown: Shown): EventWriter => {
  const print = chunkPrinter(printing(model, usage, shown))
  return {
    take(chunk, into) {
      const data = print(chunk)
      if (data !== null) into.push({ data })
    },
    again: 'always',
    end: (into) => void into.push({ data: endMark }),
  }
}

/** The last event of a stream that can't be finished; no end mark follows. */
export const broken = (error: GatewayError, id: string): DialectEvent => ({
  data: JSON.stringify({
    error: {
      message: error.told === null ? error.message : sentenceOf(error),
      type: 'upstream_error',
      code: error.code ?? String(error.status),
      param: null,
      support_id: id,
    },
  }),
})
