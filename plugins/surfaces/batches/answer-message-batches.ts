import type { Caller } from '../../../core/access/caller.ts'
import { BadRequest } from '../../../core/errors.ts'
import { namedPath, type Request } from '../../../core/http/route.ts'
import { type Reply, json } from '../../../core/http/reply.ts'
import { uuid7 } from '../../../core/uuid7.ts'
import { betaHeaders } from '../../shared/dialects/messages/native.ts'
import { refuseBetas } from '../../shared/dialects/messages/betas.ts'
import { betas } from '../../shared/dialects/betas-settings.ts'
import { bookUnread, contentOf, missingAsNull, toldAll } from './answer-files.ts'
import { requestsOf } from './entries.ts'
import type { Given } from './needs.ts'
import { batchesOf, madeObject, toldObject, undone } from './relay.ts'
import { billedBatch, refuseUnpaid } from './results.ts'
import { type KeptThing, keepThing, ownThing, ownThings, refuseUnread, things } from './rows.ts'
import { behind, bounded, gathered } from './upload.ts'
import { mostEntryBytes, tooLong, wordedRequests, type Wording, mostDropped } from './worded.ts'
import * as v from 'valibot'
import type { JsonObject } from '../../../core/dialects/json-object.ts'
import { refuseMember } from '../../shared/members.ts'
import { checked } from '../../../core/validate.ts'
import { translateMessages } from '../../shared/dialects/messages/request.ts'
import { MessagesRequest } from '../../shared/dialects/messages/shape.ts'

type Asked<Query = unknown, Path extends string = string> = Request<unknown, Query, Caller, Path>
type OfBatch = Asked<unknown, '/v1/messages/batches/{id}'>
type Told = Readonly<Record<string, unknown>>

const at = '/v1/messages/batches'
const cancelling = (id: string) => ({ method: 'POST', path: `${at}/${id}/cancel`, body: '' }) as const
const isBatch = ({ dialect }: KeptThing): boolean => dialect === 'messages'

/** The address of the results here. The vendor's own would lead past the gateway. */
const seen = async ({ settings, store }: Given, id: string, row: KeptThing, told: Told): Promise<Told> => {
  const { results_url, processing_status, request_counts } = told
  const { succeeded } = (request_counts ?? {}) as { readonly succeeded?: unknown }
  if (row.booked === 0 && processing_status === 'ended' && succeeded === 0)
    await store.update(things, id, { booked: 1 })
  if (typeof results_url !== 'string') return told
  return Object.assign(told, { results_url: namedPath(`${at}/${id}/results`, settings) })
}

const relayed = async (
  given: Given,
  [id, row]: readonly [string, KeptThing],
  signal: AbortSignal,
  ask: { readonly method: 'GET' | 'POST' | 'DELETE'; readonly path: string; readonly body?: string } = {
    ...{ method: 'GET', path: `${at}/${id}` },
  },
): Promise<Told> => seen(given, id, row, await toldObject(given, batchesOf(given, row), ask, signal))

async function* listed(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let before = '{"requests":['
  for await (const text of texts) {
    yield before + text
    before = ','
  }
  yield ']}'
}

/** Checks the requests on their way to the vendor, and keeps whose batch they are. */
export const createMessageBatch = async (request: Asked, given: Given): Promise<Reply> => {
  const { caller, headers, bytes } = request
  const { store, settings, clock, random } = given
  refuseBetas(headers, betas.of(settings).refused)
  await refuseUnread(store, caller)
  const wording = messagesWording(given, caller, headers)
  const worded = wordedRequests(given, request, wording)
  const texts = worded.texts(requestsOf(bounded(bytes, settings.bodies.file), mostEntryBytes, tooLong))
  const first = await texts.next()
  const chosen = worded.chosen()
  if (first.done === true || chosen === null) throw new BadRequest('The batch has no requests')
  const { entry, candidate, batches } = chosen
  await refuseUnpaid(given, caller, billedBatch(entry, candidate.provider))
  const stream = gathered(listed(behind(first.value, texts)))
  const ask = { method: 'POST', path: at, headers: betaHeaders(headers), stream } as const
  const made = await madeObject(given, batches, ask)
  const row: KeptThing = {
    ...{ organization: caller.organization, user: caller.user, role: 'batch', dialect: 'messages' },
    ...{ provider: candidate.provider, model: chosen.asked.model, endpoint: null, batch: null },
    ...{ at: uuid7(clock, random), booked: 0 },
  }
  const id = await keepThing(store, made['id'], row, (id) => undone(given, batches, cancelling(id)))
  const told = await seen(given, id, row, made)
  const dropped = [...wording.dropped].join(', ')
  return json(told, 200, dropped === '' ? {} : { 'x-sealgate-dropped': dropped })
}

type OfPage = Asked<{ readonly limit: number } & { readonly [edge in 'after_id' | 'before_id']?: string | undefined }>

/** The batches of the caller, the newest first. */
export const listMessageBatches = async ({ caller, query, signal }: OfPage, given: Given): Promise<Reply> => {
  const page = { limit: query.limit, after: query.after_id, before: query.before_id }
  const { rows, hasMore } = await ownThings(given.store, caller, { dialect: 'messages' }, page)
  const data = await toldAll(rows, (id, row) => relayed(given, [id, row], signal))
  return json({ data, has_more: hasMore, first_id: rows[0]?.id ?? null, last_id: rows.at(-1)?.id ?? null })
}

const own = async ({ caller, params: { id } }: OfBatch, { store }: Given) =>
  [id, await ownThing(store, caller, id, isBatch)] as const

export const oneMessageBatch = async (request: OfBatch, given: Given): Promise<Reply> =>
  json(await relayed(given, await own(request, given), request.signal))

export const cancelMessageBatch = async (request: OfBatch, given: Given): Promise<Reply> =>
  json(await relayed(given, await own(request, given), request.signal, cancelling(request.params.id)))

/** Removes the batch at its vendor, and then who owned it. Results that nobody has read are booked before. */
export const removeMessageBatch = async (request: OfBatch, given: Given): Promise<Reply> => {
  const found = await own(request, given)
  const [id, row] = found
  const { caller, record, pace, signal } = request
  await bookUnread(given, { caller, id, row, record, pace }, `${at}/${id}/results`, signal).catch(missingAsNull)
  const ask = { method: 'DELETE', path: `${at}/${id}` } as const
  const removed = await relayed(given, found, signal, ask).catch(missingAsNull)
  await given.store.remove(things, id)
  return json(removed ?? { id, type: 'message_batch_deleted' })
}

/** The lines of results. The first reader has them counted before a byte goes out. */
export const messageBatchResults = async (request: OfBatch, given: Given): Promise<Reply> => {
  const [id, row] = await own(request, given)
  const { caller, record, pace, signal } = request
  return contentOf(given, { caller, id, row, record, pace }, `${at}/${id}/results`, signal)
}

const BatchEntry = v.strictObject({
  custom_id: v.pipe(v.string(), v.regex(/^[\w-]{1,64}$/, 'up to 64 letters, digits, hyphens and underscores')),
  params: MessagesRequest,
})

/** A request of `/v1/messages/batches`, and the members that the vendor does not get. */
const messagesWording = (
  { keepsakes }: Given,
  { organization }: Caller,
  headers: JsonObject,
): Wording & { readonly dropped: ReadonlySet<string> } => {
  const seal = keepsakes.for(organization)
  const dropped = new Set<string>()
  return {
    ...{ dialect: 'messages', noun: 'requests', dropped },
    read(value) {
      const { custom_id, params } = checked(BatchEntry, value)
      if (params.stream === true) refuseMember('params.stream', 'Expected none: a batch streams nothing')
      return {
        ...{ model: params.model, ability: 'chat', endpoint: null },
        print({ entry, candidate: { model } }) {
          const worded = translateMessages(params, 'messages', seal, headers, entry.settings.serverTools)
          for (const path of worded.dropped) if (dropped.size < mostDropped) dropped.add(path)
          return JSON.stringify({ custom_id, params: Object.assign(worded.native?.body ?? {}, { model }) })
        },
      }
    },
  }
}
