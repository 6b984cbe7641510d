import { UpstreamFailed } from '../../../core/errors.ts'
import type { Clock, Fetch } from '../../../core/ports/platform.ts'
import type { Decided, DecideCall, OrderedJson, Question, Upstream, Usage } from '../../../core/ports/upstream.ts'
import { accepted, readText } from '../../shared/backend.ts'
import { fanOut } from '../../shared/fan-out.ts'
import { totalUsage } from '../../shared/total-usage.ts'
import { asksAnything, isOpen, parseDecisions, printDecisions, wordsOf } from '../../shared/decisions/decisions.ts'
import {
  fieldsOf,
  parseSystemOne,
  printSystemOne,
  readAnswer,
  stateWithImages,
  type Read,
} from '../../shared/decisions/systemone.ts'
import { countsOf } from '../../shared/decisions/probabilities.ts'

/** How a backend wants to be asked, and how it answers. */
export interface DecisionForm {
  print(call: DecideCall): string
  parse(text: string, questions: readonly Question[]): Read
}

const systemOne = (print: DecisionForm['print']): DecisionForm => ({ print, parse: parseSystemOne })
/** The part of a data URL behind its comma. */
const dataOf = (url: string) => url.slice(url.indexOf(',') + 1)

/** The second public form. */
export const decisionsForm: DecisionForm = { print: printDecisions, parse: parseDecisions }

/** System One with whole data URLs beside the state. */
export const imagesBeside = systemOne((call) =>
  printSystemOne(call, call.images.length > 0 ? { images: call.images } : {}),
)

/** System One with bare base64 beside the state. */
export const base64Beside = systemOne((call) =>
  printSystemOne(worded(call), call.images.length > 0 ? { images: call.images.map(dataOf) } : {}),
)

/** System One with the images as parts of the state, and fields of the backend's own. */
export const imagesInState = (extra: Readonly<Record<string, unknown>> = {}) =>
  systemOne((call) => {
    const full = filled(call)
    return printSystemOne(full, extra, stateWithImages(full))
  })

/** System One with named images, each of which the state must mention. */
export const imagesByName = systemOne((call) => {
  if (call.images.length === 0) return printSystemOne(call)
  const names = call.images.map((_, index) => `image-${index + 1}`)
  const assets = call.images.map((url, index) => {
    const format = /^data:image\/([a-z]+)/.exec(url)?.[1] ?? 'png'
    return [names[index], { type: 'image', format, data_base64: dataOf(url) }] as const
  })
  const state = new Map<string, unknown>([
    ['images', names],
    ['state', call.state],
  ])
  return printSystemOne(call, { assets: new Map(assets) }, state)
})

/** For backends where a state is text or a structure, and nothing but a description may be null. */
const filled = (call: DecideCall): DecideCall => ({
  ...call,
  state: typeof call.state === 'object' && call.state !== null ? call.state : wordsOf(call.state),
  questions: call.questions.map((question): Question => {
    const instructions = question.instructions ?? ''
    if (question.type === 'choice') return { ...question, instructions }
    if (question.type === 'score') {
      return { ...question, instructions, levels: question.levels.map((level, index) => level ?? `${index}`) }
    }
    const told = question.yes !== null || question.no !== null
    return { ...question, instructions, ...(told && { yes: question.yes ?? '', no: question.no ?? '' }) }
  }),
})

/** Descriptions as text too. */
const worded = (call: DecideCall): DecideCall => {
  const text = (prose: OrderedJson) => (prose === null ? null : wordsOf(prose))
  return {
    ...filled(call),
    questions: filled(call).questions.map((question): Question => {
      if (question.type === 'score') return { ...question, levels: question.levels.map(text) }
      if (question.type === 'noul') return { ...question, yes: text(question.yes), no: text(question.no) }
      const options = question.options.map(({ label, description }) => ({ label, description: text(description) }))
      return { ...question, options }
    }),
  }
}

type Spent = NonNullable<Parameters<NonNullable<Upstream['decide']>>[2]>

export interface DecisionBackend {
  readonly fetch: Fetch
  readonly clock: Clock
  readonly url: string
  headers(call: DecideCall): Readonly<Record<string, string>>
  readonly form: DecisionForm
  /** One question a call, for a backend that shows its model all of them together. */
  readonly apart?: boolean
}

/** The back door of the forms in which a backend decides by itself. */
export const decisionBackend = (backend: DecisionBackend): NonNullable<Upstream['decide']> => {
  const { fetch, clock, url, form } = backend

  const ask = async (call: DecideCall, signal: AbortSignal, spent: Spent): Promise<Read> => {
    const headers = { ...backend.headers(call), 'content-type': 'application/json' }
    const answer = await fetch.upstream(url, { method: 'POST', headers, body: form.print(call), signal })
    const text = await readText(await accepted(answer, clock))
    try {
      return form.parse(text, call.questions)
    } catch (fault) {
      const told = fieldsOf(fieldsOf(readAnswer(text))?.get('usage'))
      if (told !== null) spent(countsOf(told))
      throw fault
    }
  }

  /** The first that fails ends the others. */
  const askApart = async (call: DecideCall, signal: AbortSignal, spent: Spent): Promise<Read> => {
    const used: Usage[] = []
    const one = async (question: Question, signal: AbortSignal, index: number): Promise<Read> => {
      if (!isOpen(question)) return alone([question])
      try {
        const read = await ask({ ...call, questions: [question] }, signal, (usage) => void used.push(usage))
        used.push(read.usage)
        return read
      } catch (error) {
        throw placed(error, index)
      }
    }
    const reads = await fanOut(call.questions, call.questions.length, one, signal).catch((fault: unknown) => {
      used.forEach(spent)
      throw fault
    })
    return { distributions: reads.flatMap(({ distributions }) => distributions), usage: totalUsage(used) }
  }

  return async (call, signal, spent = () => {}): Promise<Decided> => {
    const how = backend.apart ? askApart : ask
    const read = asksAnything(call) ? await how(call, signal, spent) : alone(call.questions)
    const ignored = (['samples', 'steps'] as const).filter((field) => call[field] !== null)
    return { ...read, engine: 'native', ...(ignored.length > 0 && { ignored }) }
  }
}

/** The only label is the answer of every backend. */
const alone = (questions: readonly Question[]): Read => ({
  distributions: questions.map(() => ({ probabilities: [1], reads: 0 })),
  usage: { input: 0, output: 0 },
})

/** A fault of the only question in its call, as one of the whole call. */
const placed = (error: unknown, index: number): unknown => {
  if (!(error instanceof UpstreamFailed) || error.validator === null) return error
  const { message, again, answered, retryAfter, validator } = error
  const told = Object.values(validator)[0]!
  return new UpstreamFailed(message, { again, answered, retryAfter, validator: { [index]: told }, cause: error })
}
