import type { IncomingMessage } from 'node:http'
import type Koa from 'koa'
import type { Caller } from '../access/caller.ts'
import { tagHeader, taggedCaller } from '../access/tags.ts'
import { scanAtOnce } from '../dialects/read-json.ts'
import { Aborted } from '../errors.ts'
import { type GatheredBytes, gatheredBytes } from '../gathered-bytes.ts'
import { patient } from './body-intake.ts'
import type { HeldPlace } from './concurrency.ts'
import { showsKey } from './connections.ts'
import { type RequestContext, labelOf } from './context.ts'
import { type Gate, type Headers, type Known, giveBack, reach } from './gate.ts'
import type { KeyedRequest } from './key-watch.ts'
import type { AnyRoute, HeldBytes } from './route.ts'
import { ResponseAnswer } from './straight-answer.ts'
import type { BeatenCall, StraightCall, StraightEntry } from './straight-call.ts'

/** What all straight calls of one route share. */
interface StraightRoad {
  readonly gate: Gate
  /** Goes on by the long way, with the body that was read. */
  readonly long: (ctx: Koa.Context, known: Known) => Promise<void>
}

/** Reads the body of a call by events, hands the body on, and gives the caller's places back at the end of the response. */
class StraightWay implements BeatenCall {
  before: BeatenCall | null = null
  behind: BeatenCall | null = null
  readonly #road: StraightRoad
  readonly #ctx: Koa.Context
  readonly #entry: StraightEntry
  /** Whose limits count; the caller of the entry has the tags of the request too. */
  readonly #caller: Caller
  readonly #call: StraightCall
  /** Bytes of the body, as the head of the request tells. */
  readonly #length: number
  readonly #room: HeldBytes
  readonly #keyed: KeyedRequest
  readonly #held: HeldPlace[] = []
  #first: Buffer | null = null
  #gathered: GatheredBytes | null = null
  #patience: ReturnType<typeof patient> | null = null
  #isRead = false
  #isLong = false
  #isClosed = false

  constructor(
    road: StraightRoad,
    ctx: Koa.Context,
    caller: Caller,
    entry: StraightEntry,
    call: StraightCall,
    length: number,
  ) {
    this.#road = road
    this.#ctx = ctx
    this.#caller = caller
    this.#entry = entry
    this.#call = call
    this.#length = length
    const { hold, watched } = road.gate
    const { settings } = this.#visit.routeGeneration
    this.#room = hold(caller, settings.bodies.inMemory)
    this.#keyed = watched.began(caller, ctx.res, settings.timeouts.revoked)
  }

  get #visit(): RequestContext {
    return this.#ctx.state as RequestContext
  }

  run(): Promise<void> {
    const call = this.#call
    this.#visit.closed = (whole) => this.#closed(whole)
    return new Promise<void>((resolve, reject) => {
      call.resolve = resolve
      call.reject = reject
      const { limits } = this.#visit.routeGeneration
      const ready = limits.enter(this.#caller, this.#length, this.#visit.headers, this.#held)
      if (ready instanceof Promise) ready.then(() => this.#read()).catch(reject)
      else this.#read()
    })
  }

  #read(): void {
    // The client may have left while a limiter was asked.
    if (this.#isClosed) return this.#release()
    const { req } = this.#ctx
    // Bytes of a known length are held from the beginning, and were charged with the request.
    this.#room.grow(this.#length)
    this.#entry.beats.add(this)
    req.on('data', (part: Buffer) => this.#take(part))
    req.on('end', () => this.#ended())
  }

  /** A body that has not come with its head has a clock of its own. */
  beat(): number {
    this.#entry.beats.delete(this)
    const { leastRate } = this.#visit.routeGeneration.settings.bodies
    this.#patience = patient(this.#ctx.req, this.#entry.clock, leastRate, (late) => {
      this.#isRead = true
      this.#call.reject(late)
    })
    return Infinity
  }

  #take(part: Buffer): void {
    this.#patience?.came(part.length)
    // Most bodies come in one part, which needs no copy.
    if (this.#first === null) this.#first = part
    else {
      if (this.#gathered === null) (this.#gathered = gatheredBytes(this.#length)).add(this.#first)
      this.#gathered.add(part)
    }
  }

  #ended(): void {
    if (this.#isRead) return
    this.#isRead = true
    this.#rest()
    const body = this.#gathered?.whole() ?? this.#first ?? Buffer.alloc(0)
    this.#gathered = this.#first = null
    try {
      if (this.#begins(body)) return
    } catch (refusal) {
      return this.#call.reject(refusal)
    }
    this.#isLong = true
    const { gate, long } = this.#road
    gate.observed.went('long', 'body')
    long(this.#ctx, { caller: this.#caller, body }).then(this.#call.resolve, this.#call.reject)
  }

  /** Nothing of the body is waited for any more. */
  #rest(): void {
    this.#entry.beats.delete(this)
    this.#patience?.off()
  }

  /** False for a body that takes turns of the loop, or whose fault the long way words. */
  #begins(body: Buffer): boolean {
    const { gate } = this.#road
    const scan = scanAtOnce(body, this.#visit.routeGeneration.jsonBounds, this.#entry.pace)
    if (scan === null || !this.#call.begin(scan)) return false
    gate.observed.went('straight', this.#call.first)
    return true
  }

  #closed(whole: boolean): void {
    this.#isClosed = true
    if (!this.#isRead) this.#rest()
    this.#release()
    if (!this.#isRead) this.#call.reject(new Aborted())
    else if (!this.#isLong) this.#call.closed(whole)
  }

  #release(): void {
    const { watched, report } = this.#road.gate
    this.#room.release()
    watched.ended(this.#keyed)
    giveBack(this.#held, (error) => report(this.#visit, error))
    this.#held.length = 0
  }
}

/** Why a chat goes the long way: a part of the request or of the configuration. */
type LongWhy = 'listened' | 'head' | 'key' | 'settings'

const nothing = {}

/** Bytes of a body that goes straight; a longer one is read in turns of the loop. */
const mostStraightBytes = 128 * 1024

/** Whether the body is in the request as it is, and its length is known. */
const isUsual = ({ headers, readableEnded }: IncomingMessage): boolean =>
  headers.expect === undefined && headers['content-encoding'] === undefined && !readableEnded

/** The caller with the tags of its request; null for malformed ones, whose fault the long way words. */
const tagsOn = (caller: Caller, { headers }: IncomingMessage): Caller | null => {
  const tags = headers[tagHeader]
  if (tags === undefined) return caller
  try {
    return taggedCaller(caller, tags)
  } catch {
    return null
  }
}

/** Key, limits, body and answer by events, where nothing unusual is met; null where the request goes the long way. */
export const straightWay = (
  gate: Gate,
  route: AnyRoute,
  at: number,
  headers: Headers,
  long: (ctx: Koa.Context, known: Known) => Promise<void>,
) => {
  const { recall, clock, beats, observed, report } = gate
  const road: StraightRoad = { gate, long }
  const label = labelOf(route)
  const goesLong = (why: LongWhy): null => {
    observed.went('long', why)
    return null
  }
  return (ctx: Koa.Context): Promise<void> | null => {
    const { req, res, headers: asked, querystring: query } = ctx
    const visit = ctx.state as RequestContext
    const { pace: patience, given, settings } = visit.routeGeneration
    const own = given[at]
    if (own === undefined || visit.isWatched) return goesLong('listened')
    const length = isUsual(req) ? Number(req.headers['content-length'] ?? 0) : 0
    if (length === 0 || length >= mostStraightBytes || length > own.bodyBytes) return goesLong('head')
    const caller = recall(req, route)
    if (caller === null) return goesLong('key')
    const answer = new ResponseAnswer(res, visit.headers, patience, (error) => report(visit, error))
    const params = (ctx['params'] ?? nothing) as Readonly<Record<string, string>>
    const tagged = tagsOn(caller, req)
    if (tagged === null) return goesLong('head')
    const pace = gate.pace(caller, settings.bodies.time)
    const entry = { record: visit.record, headers: asked, params, query, caller: tagged, pace, clock, beats, answer }
    const call = route.straight?.(entry, own.supplied) ?? null
    if (call === null) return goesLong('settings')
    reach(visit, route, label, headers)
    visit.caller = caller
    showsKey(req)
    return new StraightWay(road, ctx, caller, entry, call, length).run()
  }
}
