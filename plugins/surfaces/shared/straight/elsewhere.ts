import { Readable } from 'node:stream'
import type { DialectEvent, EventWriter, ServerEvent } from '../../../../core/dialects/event.ts'
import type { StraightEntry } from '../../../../core/http/route.ts'
import type { Passage } from '../../../../core/ports/chat-filter.ts'
import { type Before, type StraightCalls, sizeOf } from '../../../../core/inference/calls.ts'
import { chunksOfCompletion } from '../../../../core/inference/collect-chunks.ts'
import type { Candidate } from '../../../../core/inference/models/catalog-entry.ts'
import { printedEvents } from '../printed-events.ts'
import type { Tries } from '../../../../core/inference/routing/tries.ts'
import type { ChatTask } from '../../../../core/inference/task.ts'
import type { Completion, Whole } from '../../../../core/ports/upstream.ts'
import type { BegunChat, Ground } from './begun-chat.ts'
import type { CallEvents } from './call-events.ts'
import { type SearchedChat, searchedAnswer, searchedEvents } from '../searched-chat.ts'
import { searchedTask } from '../worded-request.ts'
import { marksOf } from '../wordings.ts'
import type { WordedChat } from './worded-chat.ts'

/** A call that another backend goes on with. */
export interface LeftCall extends SearchedChat {
  readonly at: StraightEntry
  readonly calls: StraightCalls
  readonly worded: WordedChat
  readonly tries: Tries
  /** Null where nobody was asked yet. */
  readonly before: Before | null
  readonly writer: EventWriter
}

/** What another backend goes on with; the stream is one of which the caller has a part, else null. */
export const leftBy = (
  { at, calls, shown }: Ground,
  { model, worded, tries, passage, writer }: BegunChat,
  before: Before | null,
  stream: CallEvents | null,
): Omit<LeftCall, 'settle' | 'began'> => ({
  ...{ at, calls, model, worded, tries, passage },
  before: before !== null && stream !== null ? { ...before, stream: soFarOf(stream, before.candidate) } : before,
  // The writer of an attempt without a token has begun events that nobody gets.
  writer: (stream === null ? null : writer) ?? worded.writing(model.name, shown),
})

/** What the caller has of a broken stream. */
const soFarOf = (
  { usage, characters: size, soFar: given, unfinished }: CallEvents,
  { provider }: Candidate<'chat'>,
): Required<Before>['stream'] => {
  const live = { backend: provider, usage, size, tried: [provider], notes: [] }
  return { live, given, unfinished }
}

const send = (
  { at, worded }: LeftCall,
  events: AsyncIterable<ServerEvent>,
  late = (): Readonly<Record<string, string>> => ({}),
): Promise<void> => at.answer.send(events, late, (error) => worded.broken(error))

const taskOf = ({ at, model, worded, tries }: LeftCall): Omit<ChatTask, 'stream'> => ({
  ...searchedTask(model, worded),
  ...{ tries, request: at.record.id },
})

/** The search for another backend; its deadline and its pauses are those of the whole call. A stream that broke is rescued. */
export const restElsewhere = (call: LeftCall, streams: boolean, signal: AbortSignal): Promise<void> =>
  (streams ? streamElsewhere : answerElsewhere)(call, signal)

const answerElsewhere = async (call: LeftCall, signal: AbortSignal): Promise<void> => {
  const { at, calls, worded, before } = call
  const served = await calls.chat({ ...taskOf(call), stream: false }, signal, before)
  const { answer, headers } = await searchedAnswer(call, served)
  Object.assign(at.answer.headers, worded.dropped, headers)
  at.answer.whole(await worded.whole(answer, call.model.name))
}

/** Gives the whole answer of the first backend as guards leave it. */
export const giveGuarded = async ({ at, model, worded }: LeftCall, passage: Passage, answer: Whole): Promise<void> => {
  const given = await passage.answer(answer)
  Object.assign(at.answer.headers, marksOf(passage))
  at.answer.whole(await worded.whole(given, model.name))
}

const streamElsewhere = async (call: LeftCall, signal: AbortSignal): Promise<void> => {
  const { calls, worded, before, writer } = call
  const served = await calls.chat({ ...taskOf(call), stream: true }, signal, before)
  const { events, late } = searchedEvents(call, served, writer)
  await send(call, events, () => ({ ...worded.dropped, ...late() }))
}

/** A whole answer as the stream that the caller asked for. */
export const streamWhole = async (
  call: LeftCall,
  completion: Completion,
  { provider: backend, id: by }: Candidate<'chat'>,
): Promise<void> => {
  const { writer, settle, began } = call
  const events = printedEvents({
    ...{ chunks: chunksOfCompletion(completion), notes: [], writer, began },
    settle: () => settle({ usage: completion.usage ?? null, size: sizeOf(completion), backend, by }),
  })
  await send(call, events)
}

/** Ends a stream whose last events take many turns of the loop, with what was held of them. */
export const sendRest = async (call: LeftCall, held: string, rest: readonly DialectEvent[]): Promise<void> => {
  const { answer } = call.at
  answer.begin()
  answer.write(held, () => undefined)
  await send(call, Readable.from(rest))
}

/** Tells a fault in place of an answer, or at the end of a stream that has begun. */
export const endByFault = async (call: LeftCall, fault: unknown): Promise<void> => {
  if (!call.at.answer.isBegun) throw fault
  const failing = Promise.reject(fault)
  await send(call, { [Symbol.asyncIterator]: () => ({ next: () => failing }) })
}
