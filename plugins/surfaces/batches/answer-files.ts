import type { Caller } from '../../../core/access/caller.ts'
import { BadRequest } from '../../../core/errors.ts'
import { type Reply, bytes, json } from '../../../core/http/reply.ts'
import type { Request } from '../../../core/http/route.ts'
import type { MetadataStore } from '../../../core/ports/metadata-store.ts'
import { uuid7 } from '../../../core/uuid7.ts'
import { multipart } from '../shared/multipart.ts'
import { linesOf } from './entries.ts'
import type { Given } from './needs.ts'
import { batchesOf, madeObject, sent, toldObject, undone } from './relay.ts'
import { type Booking, bookResults, usedInResults } from './results.ts'
import { type KeptThing, type PageOf, keepThing, ownThing, ownThings, things } from './rows.ts'
import { behind, bounded, fileIn, gathered, vendorForm } from './upload.ts'
import { mostEntryBytes, tooLong, wordedRequests, type Chosen, type Wording, mostDropped } from './worded.ts'
import * as v from 'valibot'
import { isJsonObject, type JsonObject } from '../../../core/dialects/json-object.ts'
import { memberNamed, refuseMember, refuseStoredState } from '../../shared/members.ts'
import { withOwnCache } from '../../../core/inference/prompt-caches.ts'
import type { Ability } from '../../../core/inference/models/catalog-entry.ts'
import { checked } from '../../../core/validate.ts'
import { translateResponses } from '../../shared/dialects/responses/request.ts'
import { ResponsesRequest } from '../../shared/dialects/responses/shape.ts'

type Asked<Query = unknown, Path extends string = string> = Request<unknown, Query, Caller, Path>
type OfFile = Asked<unknown, '/v1/files/{id}'>

/** Bytes of the fields beside the file. */
const mostFieldBytes = 8 * 1024

const removing = (id: string) => ({ method: 'DELETE', path: `/files/${id}` }) as const

const isFile = ({ role, dialect }: KeptThing): boolean => dialect === 'openai' && role === 'file'

/** Checks the lines of a file on their way to the vendor, and keeps whose file it is. */
export const uploadFile = async (request: Asked, given: Given): Promise<Reply> => {
  const { caller, headers, bytes } = request
  const { store, settings, clock, random } = given
  const type = headers['content-type'] ?? ''
  if (!type.startsWith('multipart/')) throw new BadRequest('The body must be multipart/form-data')
  const told = new Map<string, string>()
  const file = fileIn(multipart(bounded(bytes, settings.bodies.file), type, 'file', mostFieldBytes, false), told)
  const wording = openaiWording(given, caller)
  const worded = wordedRequests(given, request, wording)
  const texts = worded.texts(linesOf(file, mostEntryBytes, tooLong))
  const first = await texts.next()
  const chosen = worded.chosen()
  if (first.done === true || chosen === null) throw new BadRequest('The batch has no requests')
  const form = vendorForm(given, gathered(behind(first.value, texts)), told)
  const ask = { method: 'POST', path: '/files', type: form.type, stream: form.stream() } as const
  const made = await madeObject(given, chosen.batches, ask)
  const row: KeptThing = {
    ...{ organization: caller.organization, user: caller.user, role: 'file', dialect: 'openai' },
    ...{ provider: chosen.candidate.provider, model: chosen.asked.model, endpoint: chosen.asked.endpoint },
    ...{ batch: null, at: uuid7(clock, random), booked: 1 },
  }
  await keepThing(store, made['id'], row, (id) => undone(given, chosen.batches, removing(id)))
  const dropped = [...wording.dropped].join(', ')
  return json(made, 200, dropped === '' ? {} : { 'x-sealgate-dropped': dropped })
}

/** How many things a list asks the backend for at once. */
const atOnce = 8

/** The objects of rows, as their backends tell them now. A thing that its backend has no more is left out. */
export const toldAll = async (
  rows: readonly { readonly id: string; readonly row: KeptThing }[],
  tell: (id: string, row: KeptThing) => Promise<unknown>,
): Promise<readonly unknown[]> => {
  const told: unknown[] = []
  for (let at = 0; at < rows.length; at += atOnce) {
    const part = rows.slice(at, at + atOnce).map(({ id, row }) => tell(id, row).catch(missingAsNull))
    told.push(...(await Promise.all(part)))
  }
  return told.filter((file) => file !== null)
}

const fileOf = (given: Given, id: string, row: KeptThing, signal: AbortSignal) =>
  toldObject(given, batchesOf(given, row), { method: 'GET', path: `/files/${id}` }, signal)

type OfPage = Asked<Pick<PageOf, 'limit' | 'after' | 'order' | 'purpose'>>

/** The caller's things of a role as OpenAI lists them. */
export const listThings = async (
  { caller, query }: OfPage,
  { store }: Given,
  role: 'file' | 'batch',
  tell: (id: string, row: KeptThing) => Promise<object>,
): Promise<Reply> => {
  const { rows, hasMore } = await ownThings(store, caller, { dialect: 'openai', role }, query)
  const data = await toldAll(rows, tell)
  const [first_id, last_id] = [rows[0]?.id ?? null, rows.at(-1)?.id ?? null]
  return json({ object: 'list', data, has_more: hasMore, first_id, last_id })
}

/** The files of the caller. */
export const listFiles = (request: OfPage, given: Given): Promise<Reply> =>
  listThings(request, given, 'file', (id, row) => fileOf(given, id, row, request.signal))

/** Nobody waits any more for results that their vendor has lost: their batch counts as read. Throws the error again. */
export const readIfMissing = (store: MetadataStore, batch: string | null) => async (error: unknown) => {
  if (batch !== null && missingAsNull(error) === null) await store.update(things, batch, { booked: 1 })
  throw error
}

/** Null for what is not found. */
export const missingAsNull = (error: unknown): null => {
  if ((error as { readonly status?: unknown }).status === 404) return null
  throw error
}

export const oneFile = async ({ caller, params, signal }: OfFile, given: Given): Promise<Reply> => {
  const row = await ownThing(given.store, caller, params.id, isFile)
  return json(await fileOf(given, params.id, row, signal))
}

/** Removes the file at its vendor, and then who owned it. Results that nobody has read are booked before. */
export const removeFile = async (
  { caller, params: { id }, record, pace, signal }: OfFile,
  given: Given,
): Promise<Reply> => {
  const row = await ownThing(given.store, caller, id, isFile)
  await bookUnread(given, { caller, id, row, record, pace }, `/files/${id}/content`, signal).catch(missingAsNull)
  const removed = await toldObject(given, batchesOf(given, row), removing(id), signal).catch(missingAsNull)
  await given.store.remove(things, id)
  return json(removed ?? { id, object: 'file', deleted: true })
}

/** The bytes of a file. The first reader of results has them counted before a byte goes out. */
export const fileContent = async (request: OfFile, given: Given): Promise<Reply> => {
  const { caller, params, record, pace, signal } = request
  const { id } = params
  const row = await ownThing(given.store, caller, id, isFile)
  return contentOf(given, { caller, id, row, record, pace }, `/files/${id}/content`, signal)
}

/** Counts the results at the path and books them, where nobody has read them. */
export const bookUnread = async (given: Given, booking: Booking, path: string, signal: AbortSignal): Promise<void> => {
  if (booking.row.booked !== 0) return
  const batches = batchesOf(given, booking.row)
  const lost = readIfMissing(given.store, booking.row.batch)
  const { body } = await sent(given, batches, { method: 'GET', path }, signal).catch(lost)
  await bookResults(given, booking, await usedInResults(body, batches, booking.pace), signal)
}

/** What lies at the path, booked before where nobody has read it. */
export const contentOf = async (given: Given, booking: Booking, path: string, signal: AbortSignal): Promise<Reply> => {
  await bookUnread(given, booking, path, signal)
  const { body } = await sent(given, batchesOf(given, booking.row), { method: 'GET', path }, signal)
  return bytes(body, 'application/octet-stream', null, 200, { 'cache-control': 'private, no-store' })
}

/** Paths that a request of a batch may ask, with what its model has to do. */
const endpoints: Readonly<Record<string, Ability>> = {
  '/v1/chat/completions': 'chat',
  '/v1/embeddings': 'embed',
  '/v1/responses': 'chat',
}

/** In characters. */
const longestId = 512

const isShort = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= longestId

const bodyOf = ({ body }: JsonObject): JsonObject & { readonly model: string } => {
  if (!isJsonObject(body)) return refuseMember('body', 'Expected Object')
  if (!isShort(body['model'])) return refuseMember('body.model', 'Expected the name of a model')
  if (body['stream'] === true) refuseMember('body.stream', 'Expected none: a batch streams nothing')
  if (body['store'] === true) refuseStoredState('body.store')
  return body as JsonObject & { readonly model: string }
}

const ResponsesLine = v.looseObject({ body: ResponsesRequest })

/** The body of a line as the vendor gets it. Throws BadRequest for state at the vendor. */
type Printed = (chosen: Chosen) => JsonObject

/** A line of a file for `/v1/batches`, and the members that the vendor does not get. */
const openaiWording = (
  { keepsakes, settings }: Given,
  { organization }: Caller,
): Wording & { readonly dropped: ReadonlySet<string> } => {
  const seal = keepsakes.for(organization)
  const dropped = new Set<string>()
  const ofResponses = (value: JsonObject): Printed => {
    const { body } = checked(ResponsesLine, value)
    return ({ entry }) => {
      const worded = translateResponses(body, 'responses', seal, entry.settings.serverTools)
      for (const path of worded.dropped) if (dropped.size < mostDropped) dropped.add(path)
      return worded.native?.body ?? {}
    }
  }
  const cached = (body: JsonObject): JsonObject =>
    settings.routing.promptCaches === 'shared' ? body : withOwnCache(body, organization)
  return {
    ...{ dialect: 'openai', noun: 'lines', dropped },
    read(value) {
      if (!isJsonObject(value)) return refuseMember('', 'Expected Object')
      const { custom_id, method, url } = value
      if (!isShort(custom_id)) return refuseMember('custom_id', `Expected a text of up to ${longestId} characters`)
      if (method !== 'POST') return refuseMember('method', 'Expected "POST"')
      const ability = typeof url === 'string' && Object.hasOwn(endpoints, url) ? endpoints[url] : undefined
      if (ability === undefined) return refuseMember('url', `Expected ${Object.keys(endpoints).join(' or ')}`)
      const body = bodyOf(value)
      if (url !== '/v1/responses' && memberNamed(body, ['file_id']) !== undefined) refuseStoredState('body')
      const printed: Printed = url === '/v1/responses' ? ofResponses(value) : () => body
      return {
        ...{ model: body.model, ability, endpoint: url as string },
        print: (chosen) => {
          const sent = Object.assign(cached(printed(chosen)), { model: chosen.candidate.model })
          return `${JSON.stringify({ custom_id, method, url, body: sent })}\n`
        },
      }
    },
  }
}
