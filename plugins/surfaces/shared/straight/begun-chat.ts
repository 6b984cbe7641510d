import { mayUse } from '../../../../core/access/caller.ts'
import type { Supplied } from '../../../../core/container.ts'
import type { EventWriter } from '../../../../core/dialects/event.ts'
import { keepTexts, memberTexts } from '../../../../core/dialects/json-text.ts'
import { membersIn, parsed, twice } from '../../../../core/dialects/json.ts'
import type { JsonScan } from '../../../../core/dialects/json-scan.ts'
import type { StraightEntry } from '../../../../core/http/route.ts'
import type { StraightCalls } from '../../../../core/inference/calls.ts'
import type { chatNeeds } from '../chat-needs.ts'
import type { Candidate, Entry } from '../../../../core/inference/models/catalog-entry.ts'
import { type ReadAround, longTexts, readAround } from '../../../shared/long-texts.ts'
import { unseenPart } from '../../../shared/models/find-model.ts'
import type { StreamedSoFar } from '../../../../core/inference/routing/continue-stream.ts'
import { type Tries, triesOf } from '../../../../core/inference/routing/tries.ts'
import { type Passage, passageThrough } from '../../../../core/ports/chat-filter.ts'
import type { Soon } from '../../../../core/ports/soon.ts'
import type { ChatBody, ChatWire } from '../../../../core/ports/upstream.ts'
import { checked } from '../../../../core/validate.ts'
import type { Shown } from '../answering.ts'
import type { Talk } from '../talk.ts'
import { type Wordings, guardedWordings, wordingsOf } from '../wordings.ts'
import type { CallEvents } from './call-events.ts'
import type { Door } from './door.ts'
import { DialectEvents } from './dialect-events.ts'
import { isPlainChat, splicedBody } from './request-bytes.ts'
import { type WordedChat, commonChat, firstOf, takesAll, wordedTalk } from './worded-chat.ts'

export type Given = Supplied<typeof chatNeeds>

/** What a chat stands on before its body has come. */
export interface Ground {
  readonly at: StraightEntry
  readonly given: Given
  readonly calls: StraightCalls
  /** How chunks of the common format are worded; null for other dialects. */
  readonly shown: Shown | null
  /** Throws BadRequest for a request that no backend gets. */
  talk(read: ReadAround): Talk
}

/** Null before the first call has loaded what a call needs, and where the configuration lets no chat go straight. */
export const groundOf = <Input, Own>(at: StraightEntry, given: Given & Own, door: Door<Input, Own>): Ground | null => {
  const calls = given.inference.now()
  if (calls === null || !calls.shared.routing.straight) return null
  const { record, caller, headers, params, pace } = at
  const talk = (read: ReadAround): Talk => {
    const input = checked(door.schema, read.value)
    keepTexts(input, memberTexts(read.scan, read.value, membersIn(read.value), twice))
    return door.talk({ id: record.id, record, input, caller, headers, params, pace }, given)
  }
  return { at, given, calls, shown: door.shown ?? null, talk }
}

/** A chat with its backend, before anything is reserved or sent. */
export interface BegunChat {
  readonly model: Entry
  readonly candidate: Candidate<'chat'>
  readonly worded: WordedChat
  /** Null where the search asks the first backend too. */
  readonly wire: ChatWire | null
  /** Null when no filter looks at the chat. */
  readonly passage: Passage | null
  readonly tries: Tries
  /** Whether the caller speaks the common format. */
  readonly isCommon: boolean
  /** By which tokens are guessed. */
  readonly body: ChatBody
  /** The request to the backend. */
  readonly sent: string | Uint8Array
  readonly streams: boolean
  /** Writes a stream in the caller's dialect. */
  readonly writer: EventWriter | null
  /** Null for a whole answer. */
  streamOf(choices: number, soFar: StreamedSoFar | null): CallEvents | null
}

const readWhole = (scan: JsonScan): ReadAround => ({ scan, value: parsed(scan.bytes.toString('utf8')), found: [] })

/**
 * Null where the long way has to answer, or to word a fault. A promise where guards look at the chat. Throws BadRequest for
 * a request that no backend gets.
 */
export const begunChat = (ground: Ground, scan: JsonScan, signal: () => AbortSignal): Soon<BegunChat> | null => {
  // Bytes of the common format go on as they are.
  const read = ground.shown === null ? readAround(scan) : readWhole(scan)
  return asBytes(ground, read) ?? asTalk(ground, read, signal)
}

const triesBefore = (tries: Tries): number => (typeof tries === 'number' ? tries : 0)

/** A chat of the common format for a backend that takes its bytes. */
const asBytes = (ground: Ground, read: ReadAround): BegunChat | null => {
  const { at, calls, shown } = ground
  const { value } = read
  if (shown === null || !isPlainChat(value)) return null
  const [body, stream] = [value as unknown as ChatBody, value['stream'] === true]
  const { entry, passage } = served(ground, String(value['model'])) ?? {}
  if (entry === undefined || passage !== null || unseenPart(entry, body) !== null) return null
  if (!entry.candidates.every((candidate) => takesAll(candidate, body))) return null
  const worded = commonChat(at, entry, body)
  const candidate = firstOf(calls, entry, worded)
  const { model } = candidate
  const tries = triesOf(at.headers)
  const wire = isAskedFirst(calls)
    ? (candidate.upstream.wire?.({ model, body, stream, tries: triesBefore(tries) }) ?? null)
    : null
  if (wire?.isCommon !== true) return null
  const sent = splicedBody(read, { model, streams: stream })
  if (sent === null) return null
  const writer = stream ? worded.writing(entry.name, shown) : null
  return {
    model: entry,
    candidate,
    worded,
    wire,
    passage,
    tries,
    isCommon: true,
    body,
    sent,
    streams: stream,
    writer,
    streamOf: streamBy(wire, writer),
  }
}

const streamBy =
  (wire: ChatWire | null, writer: EventWriter | null): BegunChat['streamOf'] =>
  (choices, soFar) =>
    writer === null || wire === null ? null : new DialectEvents(wire, writer, choices, soFar)

/** A chat of any dialect, worded for its backend. */
const asTalk = (ground: Ground, read: ReadAround, signal: () => AbortSignal): Soon<BegunChat> | null => {
  const talk = ground.talk(read)
  if (talk.callerKey != null) return null
  const found = served(ground, talk.model)
  if (found === null) return null
  const { entry, passage } = found
  const fit = wordingsOf((to) => talk.understand(to, entry.settings))
  const asWorded = (fit: Wordings): BegunChat => begunTalk(ground, talk, found, fit, read)
  return passage === null ? asWorded(fit) : guardedWordings(entry, fit, passage, signal()).then(asWorded)
}

/** Hedges ask a second backend beside the first, which the search does. */
const isAskedFirst = ({ shared }: StraightCalls): boolean => shared.routing.hedge === null

const begunTalk = (
  ground: Ground,
  talk: Talk,
  { entry, passage }: ServedModel,
  fit: Wordings,
  read: ReadAround,
): BegunChat => {
  const { at, calls } = ground
  const worded = wordedTalk(at, entry, talk, fit)
  const candidate = firstOf(calls, entry, worded)
  const { model, upstream } = candidate
  const tries = triesOf(at.headers)
  const { body, native } = calls.fitted(worded, candidate)
  const common = { model, body, stream: talk.streams, tries: triesBefore(tries) }
  const call = native === undefined ? common : { ...common, native }
  // Guards see the pieces of a stream one behind the other, as the search gives them.
  const isWired = isAskedFirst(calls) && (passage === null || !talk.streams)
  const wire = isWired ? (upstream.wire?.(call) ?? null) : null
  const sent = wire?.body(longTexts(read)) ?? null
  const writer = talk.streams ? talk.writing(entry.name) : null
  return {
    model: entry,
    candidate,
    worded,
    // A long body is printed in turns of the loop.
    wire: sent === null ? null : wire,
    passage,
    tries,
    isCommon: ground.shown !== null,
    body: worded.body,
    sent: sent ?? '',
    streams: talk.streams,
    writer,
    streamOf: streamBy(wire, writer),
  }
}

/** A model, and the way of a chat through the filters that look at it. */
interface ServedModel {
  readonly entry: Entry
  readonly passage: Passage | null
}

/** Null where the long way has to look for the model, or to refuse it. */
const served = ({ at: { caller, pace }, given }: Ground, model: string): ServedModel | null => {
  const entry = given.catalog.recall(model)
  if (entry === null || !mayUse(caller, entry.name) || !entry.settings.standard || !entry.does.has('chat')) return null
  const { organization } = caller
  return { entry, passage: passageThrough(given.filters, { model: entry.name, organization, pace }) }
}
