import * as v from 'valibot'
import { BadRequest } from '../../../core/errors.ts'
import { LongNumber } from '../../../core/ports/decide.ts'
import type { OrderedJson, Question } from '../../../core/ports/upstream.ts'
import { dataUrlOf } from '../data-url.ts'
import { ModelName } from '../../../core/dialects/model-name.ts'

/** A decision request as it is understood, whichever route it came by. */
export interface DecisionRequest {
  readonly model: string
  readonly provider: string | null
  readonly state: OrderedJson
  /** In the order sent; the ids are the caller's own and go no further than the answer. */
  readonly questions: readonly Named[]
  /** At most one data URL in both together. */
  readonly images: readonly string[]
  readonly videos: readonly string[]
  readonly samples: number | null
  readonly steps: number | null
  /** Who is asked again about answers that are not sure; false for nobody, null where the settings say. */
  readonly escalate: Escalation | false | null
  /** Members of the request that have no effect here; none when absent. */
  readonly dropped?: readonly string[]
}

/** A larger model, the confidence below which it is asked, and how many models may be asked one after the other. */
export interface Escalation {
  readonly below: number
  readonly to: string
  readonly most: number
}

/** How many questions a request may have, and a choice labels. */
export interface DecisionBounds {
  readonly questions: number
  readonly labels: number
}

/** The bounds of the interface. */
const ownBounds: DecisionBounds = { questions: 16, labels: 26 }

/** The bounds of the public forms. */
export const wideBounds: DecisionBounds = { questions: 400, labels: 255 }

/** Most models that one request asks one after the other, the first left out. */
export const mostEscalations = 3

/** A question with the id that the caller gave it. */
export interface Named {
  readonly id: string
  readonly question: Question
}

const imageTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/bmp']
/** The interface names this form alone. */
const videoUrl = /^data:video\/mp4;base64,/
const providerName = /^[a-z0-9][a-z0-9-]{0,63}$/
const mostFlaws = 20
const longestPath = 100

/** Notes what was expected at a path. */
export type Report = (path: string, expected: string) => void
export type OrderedObject = ReadonlyMap<string, OrderedJson>

/** Throws BadRequest that says, path by path, what was expected. */
export const parseDecision = (body: OrderedJson, bounds = ownBounds): DecisionRequest => {
  const flaws: [path: string, expected: string][] = []
  const report: Report = (path, expected) => flaws.push([path, expected])
  const fields = body instanceof Map ? (body as OrderedObject) : new Map<string, OrderedJson>()
  if (fields !== body) throw invalid([['body', 'expected an object']])

  const { success, output: model } = v.safeParse(ModelName, fields.get('model'))
  if (!success) report('model', 'expected the name of a model')
  if (!fields.has('state')) report('state', 'expected any JSON')
  const provider = fields.get('provider') ?? null
  if (provider !== null && !(typeof provider === 'string' && providerName.test(provider))) {
    report('provider', 'expected up to 64 lower-case letters, digits and hyphens')
  }
  const questions = questionsOf(fields.get('questions'), bounds, report)
  const images = media(fields, 'images', 'expected a base64 data URL of a PNG, JPEG, WebP, GIF or BMP image', imageOf, report) // prettier-ignore
  const videos = media(fields, 'videos', 'expected a base64 data URL of an MP4 video', videoOf, report)
  if (images.length > 0 && videos.length > 0) report('videos', 'expected no video beside an image')
  const samples = count(fields, 'samples', 32, report)
  const steps = count(fields, 'steps', 8, report)
  const escalate = escalationOf(fields.get('escalate'), report)
  if (fields.get('stream')) report('stream', 'expected no stream: this route answers at once')

  if (flaws.length > 0) throw invalid(flaws)
  return {
    model: String(model),
    provider: provider as string | null,
    state: fields.get('state')!,
    questions,
    images,
    videos,
    samples,
    steps,
    escalate,
  }
}

/** The first flaw is also said aloud. Paths hold the caller's own field names, and never a value. */
export const invalid = (flaws: readonly (readonly [path: string, expected: string])[]): BadRequest => {
  const validator: Record<string, string> = Object.create(null)
  for (const [path, expected] of flaws.slice(0, mostFlaws)) validator[path.slice(0, longestPath)] ??= expected
  const [path, expected] = Object.entries(validator)[0]!
  const message = path + ': ' + expected
  return new BadRequest(message, { validator })
}

/** The fields of `escalate`. */
export const escalationOf = (value: OrderedJson | undefined, report: Report): Escalation | false | null => {
  if (value === undefined || value === null || value === false) return value ?? null
  const fields = value instanceof Map ? (value as OrderedObject) : new Map<string, OrderedJson>()
  const { success, output: to } = v.safeParse(ModelName, fields.get('to'))
  if (!success) report('escalate.to', 'expected the name of a model')
  const below = fields.get('below')
  const isShare = typeof below === 'number' && below >= 0 && below <= 1
  if (!isShare) report('escalate.below', 'expected a number from 0 to 1')
  const most = count(fields, 'most', mostEscalations, (name, expected) => report(`escalate.${name}`, expected)) ?? 1
  return success && isShare ? { to, below, most } : null
}

const questionsOf = (value: OrderedJson | undefined, bounds: DecisionBounds, report: Report): readonly Named[] => {
  if (!(value instanceof Map) || value.size < 1 || value.size > bounds.questions) {
    report('questions', `expected a map of 1 to ${bounds.questions} questions`)
    return []
  }
  const questions: Named[] = []
  for (const [id, part] of value as OrderedObject) {
    if (id === '') report('questions', 'expected ids of at least one character')
    const question = questionOf(part, `questions.${id}`, bounds.labels, report)
    if (question) questions.push({ id, question })
  }
  return questions
}

const questionOf = (value: OrderedJson, path: string, labels: number, report: Report): Question | null => {
  if (!(value instanceof Map)) {
    report(path, 'expected an object')
    return null
  }
  const fields = value as OrderedObject
  const instructions = described(fields.get('instructions'), `${path}.instructions`, report)
  const criteria = fields.get('criteria')
  const at = `${path}.criteria`
  switch (fields.get('type')) {
    case 'choice':
      return { type: 'choice', instructions, options: optionsOf(criteria, at, labels, report) }
    case 'noul':
      return { type: 'noul', instructions, ...outcomesOf(criteria, at, report) }
    case 'score':
      return { type: 'score', instructions, levels: levelsOf(criteria, at, report) }
    default:
      report(`${path}.type`, 'expected choice, noul or score')
      return null
  }
}

const optionsOf = (criteria: OrderedJson | undefined, path: string, most: number, report: Report) => {
  if (Array.isArray(criteria)) {
    report(path, 'expected a map of labels to descriptions, not a list')
    return []
  }
  if (!(criteria instanceof Map) || criteria.size < 1 || criteria.size > most) {
    report(path, `expected a map of 1 to ${most} labels to descriptions`)
    return []
  }
  if (criteria.has('')) report(path, 'expected labels of at least one character')
  return [...(criteria as OrderedObject)].map(([label, description]) => ({
    label,
    description: described(description, `${path}.${label}`, report),
  }))
}

const outcomesOf = (criteria: OrderedJson | undefined, path: string, report: Report) => {
  if (criteria === undefined || criteria === null) return { yes: null, no: null }
  if (!(criteria instanceof Map)) {
    report(path, 'expected an object with true, false or both, or null')
    return { yes: null, no: null }
  }
  const fields = criteria as OrderedObject
  for (const key of fields.keys()) {
    if (key !== 'true' && key !== 'false') report(path, 'expected no keys but true and false')
  }
  return {
    yes: described(fields.get('true'), `${path}.true`, report),
    no: described(fields.get('false'), `${path}.false`, report),
  }
}

const levelsOf = (criteria: OrderedJson | undefined, path: string, report: Report): readonly OrderedJson[] => {
  if (criteria instanceof Map) {
    report(path, 'expected a list, not a map')
    return []
  }
  if (!Array.isArray(criteria) || criteria.length < 2 || criteria.length > 10) {
    report(path, 'expected a list of 2 to 10 levels')
    return []
  }
  return (criteria as readonly OrderedJson[]).map((level, index) => described(level, `${path}.${index}`, report))
}

/** Instructions and descriptions are of one kind; an absent one is null. */
const described = (value: OrderedJson | undefined, path: string, report: Report): OrderedJson => {
  if (typeof value === 'number' || typeof value === 'boolean' || value instanceof LongNumber) {
    report(path, 'expected a string, object, array or null')
    return null
  }
  return value ?? null
}

/** A picture under one spelling of its type; null for any other text. */
export const imageOf = (url: string): string | null => {
  const image = dataUrlOf(url)
  return image !== null && imageTypes.includes(image.mime) ? `data:${image.mime};base64,${image.data}` : null
}

const videoOf = (url: string): string | null => (videoUrl.test(url) ? url : null)

const media = (
  fields: OrderedObject,
  name: string,
  expected: string,
  read: (url: string) => string | null,
  report: Report,
): readonly string[] => {
  const value = fields.get(name) ?? []
  if (!Array.isArray(value) || value.length > 1) {
    report(name, 'expected a list of one item at most')
    return []
  }
  const [url] = value as readonly OrderedJson[]
  if (url === undefined) return []
  const medium = typeof url === 'string' ? read(url) : null
  if (medium !== null) return [medium]
  report(`${name}.0`, expected)
  return []
}

const count = (fields: OrderedObject, name: string, most: number, report: Report): number | null => {
  const value = fields.get(name) ?? null
  if (value === null) return null
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most) return value
  report(name, `expected a whole number from 1 to ${most}`)
  return null
}
