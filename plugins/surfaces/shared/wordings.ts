import { fieldsBeyondContent as unheardByGemini } from '../../shared/dialects/generate-content/unsupported-fields.ts'
import { fieldsBeyondMessages as unheardByMessages } from '../../shared/dialects/messages/unsupported-fields.ts'
import type { TranslatedRequest } from '../../shared/dialects/translated-request.ts'
import { printable } from './backend-headers.ts'
import type { DialectChat } from './dialect-chat.ts'
import { type ChatFilter, type Passage, passageThrough } from '../../../core/ports/chat-filter.ts'
import { dialectOf, type Entry } from '../../../core/inference/models/catalog-entry.ts'
import type { ChatBody, Dialect } from '../../../core/ports/upstream.ts'

type Headers = Readonly<Record<string, string>>

/** The request for a backend of each dialect, undefined for the common one. */
export type Wordings = (to: Dialect | undefined) => TranslatedRequest

/** Each wording is made when it is first asked for, and once. */
export const wordingsOf = (understand: Wordings): Wordings => {
  const worded: Partial<Record<Dialect | 'common', TranslatedRequest>> = {}
  return (to) => (worded[to ?? 'common'] ??= understand(to))
}

/** The way of a chat through the filters, null where none looks at it, and its wordings behind them. */
export interface FilteredWordings {
  readonly passage: Passage | null
  readonly fit: Wordings
}

/** The wordings as all filters leave them. */
export const filteredWordings = async (
  entry: Entry,
  worded: Wordings,
  filters: readonly ChatFilter[],
  { caller: { organization }, pace = null }: Pick<DialectChat, 'caller' | 'pace'>,
  signal: AbortSignal,
): Promise<FilteredWordings> => {
  const passage = passageThrough(filters, { model: entry.name, organization, pace })
  return { passage, fit: passage === null ? worded : await guardedWordings(entry, worded, passage, signal) }
}

/** The wording for the first backend of the model, by which tokens are guessed and models are chosen. */
export const firstWording = ({ candidates: [first] }: Entry, fit: Wordings): TranslatedRequest =>
  fit(first && dialectOf(first))

/** The wordings for all backends of the model behind the guards. No other wording goes out. */
export const guardedWordings = async (
  { candidates }: Entry,
  fit: Wordings,
  passage: Passage,
  signal: AbortSignal,
): Promise<Wordings> => {
  const worded = new Map<Dialect | undefined, TranslatedRequest>()
  for (const to of new Set(candidates.map(dialectOf))) {
    const { body, native, ...rest } = fit(to)
    const common = await passage.request(body, signal)
    const own = native && { native: { ...native, body: await passage.request(native.body, signal) } }
    worded.set(to, { ...rest, ...own, body: common })
  }
  return (to) => {
    const wording = worded.get(to)
    if (wording === undefined) throw new Error('No guard has seen this wording')
    return wording
  }
}

/** The marks of guards, as far as they are known. */
export const marksOf = (passage: Passage | null): Headers => {
  const marks = passage?.marks() ?? []
  return marks.length === 0 ? {} : { 'x-sealgate-guards': marks.map(printable).join(', ') }
}

const unheard: Readonly<Partial<Record<Dialect, ReadonlySet<string>>>> = {
  messages: unheardByMessages,
  'generate-content': unheardByGemini,
}

/** The header that names members of the request that at least one backend of the model would not get. */
export const droppedIn = (entry: Entry, fit: Wordings): Headers => {
  const dropped = droppedOf(entry, fit)
  return dropped.length === 0 ? {} : { 'x-sealgate-dropped': dropped.join(', ') }
}

const droppedOf = ({ candidates }: Entry, fit: Wordings): readonly string[] => {
  const dropped: string[] = []
  for (const candidate of candidates) {
    const to = dialectOf(candidate)
    const { body, native, dropped: paths } = fit(to)
    for (const path of paths) if (!dropped.includes(path)) dropped.push(path)
    addUnheard(dropped, body, native === undefined && to !== undefined ? unheard[to] : undefined)
  }
  for (const candidate of candidates) {
    const { upstream, model } = candidate
    const { body, native } = fit(dialectOf(candidate))
    if (native === undefined) addUnheard(dropped, body, upstream.unheard?.(model, body))
  }
  return dropped
}

const addUnheard = (dropped: string[], body: ChatBody, refused: ReadonlySet<string> | undefined): void => {
  if (refused === undefined || refused.size === 0) return
  for (const name in body) {
    const value = body[name]
    if (!refused.has(name) || value == null || isOurs(name, value)) continue
    if (!dropped.includes(name)) dropped.push(name)
  }
  if (refused.has(detail) && !dropped.includes(detail) && choosesDetail(body)) dropped.push(detail)
}

/** Members that the gateway itself sees to, and values by which every backend answers: one choice, and calls side by side. */
const isOurs = (name: string, value: unknown): boolean =>
  name === 'stream_options' || (name === 'n' && value === 1) || value === (name === 'parallel_tool_calls')

/** The look at an image that a caller chooses. */
const detail = 'messages.content.image_url.detail'

const choosesDetail = ({ messages }: ChatBody): boolean =>
  messages.some(
    ({ content }) =>
      Array.isArray(content) && content.some(({ image_url: seen }) => (seen?.detail ?? 'auto') !== 'auto'),
  )
