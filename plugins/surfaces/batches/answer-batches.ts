import type { Caller } from '../../../core/access/caller.ts'
import { type Reply, json } from '../../../core/http/reply.ts'
import type { Request } from '../../../core/http/route.ts'
import { refuseMember } from '../../shared/members.ts'
import { uuid7 } from '../../../core/uuid7.ts'
import { listThings, readIfMissing } from './answer-files.ts'
import type { Given } from './needs.ts'
import { batchesOf, madeObject, toldObject, undone } from './relay.ts'
import { billedBatch, modelOf, refuseUnpaid } from './results.ts'
import { type KeptThing, keepThing, ownThing, refuseUnread, things } from './rows.ts'

type Asked<Input = unknown, Query = unknown, Path extends string = string> = Request<Input, Query, Caller, Path>

const isBatch = ({ role, dialect }: KeptThing): boolean => dialect === 'openai' && role === 'batch'
const isInput = ({ role, dialect, batch }: KeptThing): boolean =>
  dialect === 'openai' && role === 'file' && batch === null

/** States in which a batch without an output will never have one. */
const over = new Set<unknown>(['completed', 'failed', 'expired', 'cancelled'])

type Told = Readonly<Record<string, unknown>>

/** Keeps whose the files of results are, before the caller learns their ids; failed requests cost nothing. The model gets its own name. */
const seen = async ({ store, clock, random }: Given, id: string, row: KeptThing, told: Told): Promise<Told> => {
  for (const [file, booked] of Object.entries({ output_file_id: 0, error_file_id: 1 }))
    if (typeof told[file] === 'string')
      await keepThing(store, told[file], { ...row, role: 'file', batch: id, at: uuid7(clock, random), booked })
  if (row.booked === 0 && over.has(told['status']) && typeof told['output_file_id'] !== 'string')
    await store.update(things, id, { booked: 1 })
  return 'model' in told ? Object.assign(told, { model: row.model }) : told
}

const toldBatch = async (given: Given, id: string, row: KeptThing, signal: AbortSignal): Promise<Told> => {
  const ask = { method: 'GET', path: `/batches/${id}` } as const
  const told = toldObject(given, batchesOf(given, row), ask, signal)
  return seen(given, id, row, await told.catch(readIfMissing(given.store, id)))
}

interface CreateBatch {
  readonly input_file_id: string
  readonly endpoint: string
  readonly [field: string]: unknown
}

const cancelling = (id: string) => ({ method: 'POST', path: `/batches/${id}/cancel`, body: '{}' }) as const

/** Begins a batch of an own file. */
export const createBatch = async ({ input, caller, signal }: Asked<CreateBatch>, given: Given): Promise<Reply> => {
  const { store, clock, random } = given
  const row = await ownThing(store, caller, input.input_file_id, isInput)
  if (row.endpoint !== input.endpoint) refuseMember('endpoint', 'Expected the url of the file’s lines')
  await refuseUnread(store, caller)
  await refuseUnpaid(given, caller, billedBatch(await modelOf(given, caller, row, signal), row.provider))
  const ask = { method: 'POST', path: '/batches', body: JSON.stringify(input) } as const
  const batches = batchesOf(given, row)
  const made = await madeObject(given, batches, ask)
  const own: KeptThing = { ...row, role: 'batch', at: uuid7(clock, random), booked: 0 }
  const id = await keepThing(store, made['id'], own, (id) => undone(given, batches, cancelling(id)))
  return json(await seen(given, id, own, made))
}

/** The batches of the caller, the newest first. */
export const listBatches = (request: Parameters<typeof listThings>[0], given: Given): Promise<Reply> =>
  listThings(request, given, 'batch', (id, row) => toldBatch(given, id, row, request.signal))

type OfBatch = Asked<unknown, unknown, '/v1/batches/{id}'>

export const oneBatch = async ({ caller, params: { id }, signal }: OfBatch, given: Given): Promise<Reply> =>
  json(await toldBatch(given, id, await ownThing(given.store, caller, id, isBatch), signal))

export const cancelBatch = async ({ caller, params: { id }, signal }: OfBatch, given: Given): Promise<Reply> => {
  const row = await ownThing(given.store, caller, id, isBatch)
  return json(await seen(given, id, row, await toldObject(given, batchesOf(given, row), cancelling(id), signal)))
}
