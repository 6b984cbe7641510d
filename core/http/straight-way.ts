import type { IncomingMessage, ServerResponse } from 'node:http'
import type Koa from 'koa'
import { tagHeader } from '../access/tags.ts'
import { type ReadText, readAtOnce } from '../dialects/read-json.ts'
import { Aborted } from '../errors.ts'
import { type GatheredBytes, gatheredBytes } from '../gathered-bytes.ts'
import { isLater, type Soon, soon } from '../ports/soon.ts'
import { jsonBoundsOf, lengthOf } from './body.ts'
import { bodyByEvents } from './body-intake.ts'
import type { HeldBytes } from './body-budget.ts'
import type { HeldPlace } from './concurrency.ts'
import { showsKey } from './connections.ts'
import type { RequestContext } from './context.ts'
import { type Gate, type Headers, type Known, giveBack } from './gate.ts'
import type { AnyRoute } from './route.ts'
import { ResponseAnswer } from './straight-answer.ts'
import type { StraightCall, StraightEntry } from './straight-call.ts'

/** What the straight way needs of the pipeline. */
interface StraightNeeds {
  readonly incoming: IncomingMessage
  readonly response: ServerResponse
  readonly visit: RequestContext
  /** Bytes of the body, as the head of the request tells. */
  readonly length: number
  readonly room: HeldBytes
  /** Counts the request, and takes the places of its caller. */
  place(held: HeldPlace[]): Soon<void>
  /** Null for a body that can't be read at once. */
  read(body: Buffer): ReadText | null
  /** Told when the call takes the body. */
  began(): void
  /** Goes on by the long way, with the body that was read. */
  goLong(body: Buffer): Promise<void>
  /** Gives the places back. */
  giveBack(held: readonly HeldPlace[]): void
}

/** Reads the body of a call by events, hands the body on, and gives the caller's places back at the end of the response. */
class StraightWay {
  readonly #entry: StraightEntry
  readonly #call: StraightCall
  readonly #needs: StraightNeeds
  readonly #held: HeldPlace[] = []
  #first: Buffer | null = null
  #gathered: GatheredBytes | null = null
  #isRead = false
  #isLong = false
  #isClosed = false

  constructor(entry: StraightEntry, call: StraightCall, needs: StraightNeeds) {
    this.#entry = entry
    this.#call = call
    this.#needs = needs
  }

  run(): Promise<void> {
    const call = this.#call
    this.#needs.visit.closed = (whole) => this.#closed(whole)
    return new Promise<void>((resolve, reject) => {
      call.resolve = resolve
      call.reject = reject
      const ready = soon(this.#needs.place(this.#held), () => this.#read())
      if (isLater(ready)) ready.catch(reject)
    })
  }

  #read(): void {
    // The client may have left while a limiter was asked.
    if (this.#isClosed) return this.#release()
    const { incoming, response, visit, room, length } = this.#needs
    const { leastRate } = visit.routeGeneration.settings.bodies
    bodyByEvents(
      incoming,
      response,
      // Bytes of a known length were charged with the request.
      { clock: this.#entry.clock, held: room, charge: nothingDue, leastRate, declared: length },
      (part) => this.#take(part),
      () => this.#ended(),
      (fault) => this.#call.reject(fault),
    )
  }

  #take(part: Buffer): void {
    // Most bodies come in one part, which needs no copy.
    if (this.#first === null) this.#first = part
    else {
      if (this.#gathered === null) (this.#gathered = gatheredBytes(this.#needs.length)).add(this.#first)
      this.#gathered.add(part)
    }
  }

  #ended(): void {
    this.#isRead = true
    const body = this.#gathered?.whole() ?? this.#first ?? Buffer.alloc(0)
    this.#gathered = this.#first = null
    try {
      if (this.#begins(body)) return
    } catch (refusal) {
      return this.#call.reject(refusal)
    }
    this.#isLong = true
    this.#needs.goLong(body).then(this.#call.resolve, this.#call.reject)
  }

  /** False for a body that takes turns of the loop, or whose fault the long way words. */
  #begins(body: Buffer): boolean {
    const read = this.#needs.read(body)
    if (read === null || !this.#call.begin(read)) return false
    this.#needs.began()
    return true
  }

  #closed(whole: boolean): void {
    this.#isClosed = true
    this.#release()
    if (!this.#isRead) this.#call.reject(new Aborted())
    else if (!this.#isLong) this.#call.closed(whole)
  }

  #release(): void {
    this.#needs.room.release()
    this.#needs.giveBack(this.#held)
    this.#held.length = 0
  }
}

const nothingDue = async (): Promise<void> => {}

/** Why a chat goes the long way: a part of the request or of the configuration. */
type LongWhy = 'listened' | 'head' | 'key' | 'settings' | 'body'

const nothing = {}

/** Bytes of a body that goes straight; a longer one is read in turns of the loop. */
const mostStraightBytes = 128 * 1024

/** Whether the body is in the request as it is, and its length is known. */
const isUsual = ({ headers, readableEnded }: IncomingMessage): boolean =>
  headers.expect === undefined &&
  headers['content-encoding'] === undefined &&
  headers[tagHeader] === undefined &&
  !readableEnded

/** Key, limits, body and answer by events, where nothing unusual is met; null where the request goes the long way. */
export const straightWay = (
  { recall, hold, pace: paceOf, watched, clock, beats, observed, report }: Gate,
  route: AnyRoute,
  at: number,
  headers: Headers,
  long: (ctx: Koa.Context, known: Known) => Promise<void>,
) => {
  const goesLong = (why: LongWhy): null => {
    observed.went('long', why)
    return null
  }
  return (ctx: Koa.Context): Promise<void> | null => {
    const { req, res } = ctx
    const visit = ctx.state as RequestContext
    const { settings, pace, count, crowd, given } = visit.routeGeneration
    const own = given[at]
    if (own === undefined || observed.isWatching()) return goesLong('listened')
    const length = isUsual(req) ? lengthOf(req, route.body, settings) : 0
    if (length === 0 || length >= mostStraightBytes) return goesLong('head')
    const caller = recall(req, route.access, route.keyHeaders)
    if (caller === null) return goesLong('key')
    const failed = (error: unknown) => report(visit, error)
    const answer = new ResponseAnswer(res, visit.headers, pace, failed)
    const params = (ctx['params'] ?? nothing) as Readonly<Record<string, string>>
    const { record } = visit
    const entry = { record, headers: req.headers, params, query: ctx.querystring, caller, clock, beats, answer }
    const call = route.straight?.(entry, own.supplied) ?? null
    if (call === null) return goesLong('settings')
    visit.route = route
    for (const [name, value] of headers) visit.headers[name] = value.replace('{id}', visit.about.id)
    visit.caller = caller
    showsKey(req)
    const keyed = watched.began(caller, res, settings.timeouts.revoked)
    return new StraightWay(entry, call, {
      incoming: req,
      response: res,
      visit,
      length,
      room: hold(caller, settings),
      place: (held) => soon(count.request(caller, length, visit.headers), () => crowd(caller, held)),
      read: (body) => readAtOnce(body, jsonBoundsOf(settings), paceOf(caller, settings)),
      began: () => observed.went('straight', 'all'),
      goLong(body) {
        goesLong('body')
        return long(ctx, { caller, body })
      },
      giveBack(held) {
        if (keyed !== null) watched.ended(keyed)
        giveBack(held, failed)
      },
    }).run()
  }
}
