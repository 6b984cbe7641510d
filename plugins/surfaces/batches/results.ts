import type { Caller } from '../../../core/access/caller.ts'
import { usageOf } from '../../../core/dialects/chat-completions.ts'
import { isJsonObject } from '../../../core/dialects/json-object.ts'
import { noBounds } from '../../../core/dialects/json-scan.ts'
import type { Pace } from '../../../core/dialects/loop-time.ts'
import { readJson } from '../../../core/dialects/read-json.ts'
import { BadRequest, TooMany } from '../../../core/errors.ts'
import type { Consumption } from '../../../core/inference/metering/consumption.ts'
import type { BilledModel, Reservation } from '../../../core/inference/metering/meter.ts'
import { totalUsage } from '../../shared/total-usage.ts'
import type { Entry } from '../../../core/inference/models/catalog-entry.ts'
import { uuid7 } from '../../../core/uuid7.ts'
import type { RequestRecord } from '../../../core/ports/observer.ts'
import type { Usage } from '../../../core/ports/upstream.ts'
import { unknownModel } from '../../shared/models/find-model.ts'
import type { Batches } from '../../shared/more-abilities.ts'
import { garbled } from '../../shared/backend.ts'
import { linesOf } from './entries.ts'
import type { Given } from './needs.ts'
import { type KeptThing, things } from './rows.ts'

/** Bytes of one line of results. */
const mostLineBytes = 16 * 1024 * 1024

/** Tokens of a prompt below which no price list has another price; calls up to there are booked together. */
const fewTokens = 32_000

const nothing: Usage = { input: 0, output: 0 }

/** What the calls of results used: the short ones together, and each long one, whose price may be another. */
export const usedInResults = async (
  body: AsyncIterable<Uint8Array>,
  { used }: Pick<Batches, 'used'>,
  pace: Pace,
): Promise<readonly Consumption[]> => {
  const long: Consumption[] = []
  let [short, calls] = [nothing, 0]
  for await (const line of linesOf(body, mostLineBytes, () => garbled('A line of results is too long'))) {
    const usage = await usageIn(line, used, pace)
    if (usage === null) continue
    if (usage.input > fewTokens) long.push(usage)
    else {
      short = totalUsage([short, usage])
      calls++
    }
  }
  return calls === 0 ? long : [{ ...short, calls }, ...long]
}

/** Null for a request that failed. A call without counts is marked as a guess. */
const usageIn = async (line: Buffer, used: Batches['used'], pace: Pace): Promise<Usage | null> => {
  const read = async (): Promise<unknown> => readJson(line, 'plain', noBounds, pace)
  const value = await read().catch((error: unknown) => {
    throw error instanceof BadRequest ? garbled('A line of results is no JSON', null, error) : error
  })
  const wire = isJsonObject(value) ? used(value) : null
  return wire === null ? null : (usageOf(wire) ?? { ...nothing, estimated: true })
}

/** The model as its batches are billed: at the price in a batch of the first model of this backend, which has the batch. */
export const billedBatch = (entry: Entry, provider: string): BilledModel => ({
  ...entry,
  candidates: entry.candidates.filter((candidate) => candidate.provider === provider).slice(0, 1),
  terms: 'batch',
})

/** The model of a row. Throws NotFound where the configuration has it no more. */
export const modelOf = async ({ catalog }: Given, caller: Caller, { model }: KeptThing, signal: AbortSignal) => {
  const entry = await catalog.find(model, signal)
  if (entry === null) throw unknownModel(catalog, caller, model)
  return entry
}

/** Throws where no budget has room for anything, or where a budget holds and the price is unknown. */
export const refuseUnpaid = async ({ meter }: Given, caller: Caller, billed: BilledModel): Promise<void> => {
  await (await meter.book(caller, billed, { input: 1, output: 1 })).cancel()
}

/** Whose results are booked, for whose row, and the time of the main loop that their reading takes. */
export interface Booking {
  readonly caller: Caller
  readonly id: string
  readonly row: KeptThing
  readonly record: RequestRecord
  readonly pace: Pace
}

/**
 * What is thrown where the charges before this one have taken the room: a time where a budget has it later, and none where
 * all results together cost more than a whole budget.
 */
const refusalOfAll = async (
  { meter }: Given,
  caller: Caller,
  billed: BilledModel,
  all: readonly Consumption[],
  refusal: unknown,
): Promise<unknown> => {
  if (!(refusal instanceof TooMany) || refusal.code !== 'budget_exceeded' || refusal.retryAfter === null) return refusal
  const calls = all.reduce((sum, { calls = 1 }) => sum + calls, 0)
  await (await meter.book(caller, billed, { ...totalUsage(all), calls })).cancel()
  const { code, limit, headers } = refusal
  const { 'x-sealgate-budget-reset': _, ...kept } = headers
  return new TooMany('The request costs more than its budget', { code, limit, headers: kept })
}

/** The tries of a mark, with the first one, and ms between two. */
const [mostTries, pause] = [3, 1_000]

/** Marks a row as booked. False where another reader was first. The mark's own name tells it where its answer was lost. */
const marked = async ({ store, clock, random }: Given, id: string): Promise<boolean> => {
  const by = uuid7(clock, random)
  for (let tries = 1; ; tries++) {
    try {
      const row = await store.update(things, id, { booked: 1, by }, { booked: 0 })
      return (row ?? (await store.get(things, id)))?.by === by
    } catch (fault) {
      if (tries === mostTries) throw fault
      await clock.sleep(pause)
    }
  }
}

/**
 * Books what results used, once for all readers and across kills: the row decides. Budgets pay before the row is marked, and
 * the ledger counts behind the mark. Throws TooMany where a budget has no room; then nothing is booked.
 */
export const bookResults = async (
  given: Given,
  { caller, id, row, record }: Omit<Booking, 'pace'>,
  all: readonly Consumption[],
  signal: AbortSignal,
): Promise<void> => {
  const { meter, store } = given
  const billed = billedBatch(await modelOf(given, caller, row, signal), row.provider)
  const reserved: (readonly [Reservation<Consumption>, Consumption])[] = []
  const giveBack = async () => {
    for (const [reservation] of reserved) await reservation.cancel()
  }
  try {
    for (const used of all) reserved.push([await meter.book(caller, billed, used, record), used])
    if (row.batch !== null) await store.update(things, row.batch, { booked: 1 })
    if (!(await marked(given, id))) return await giveBack()
  } catch (error) {
    await giveBack()
    throw reserved.length === 0 ? error : await refusalOfAll(given, caller, billed, all, error)
  }
  // Nothing waits between the mark and the counts: a kill there loses the counts of a batch, and never doubles them.
  await Promise.all(reserved.map(([reservation, used]) => reservation.settle(used, row.provider)))
}
