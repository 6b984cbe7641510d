import { lendController } from '../../../../core/abort.ts'
import type { JsonScan } from '../../../../core/dialects/json-scan.ts'
import { Aborted, GatewayError, UpstreamFailed } from '../../../../core/errors.ts'
import type { StraightCall, StraightEntry } from '../../../../core/http/route.ts'
import { type Before, sizeOf } from '../../../../core/inference/calls.ts'
import type { Consumption } from '../../../../core/inference/metering/consumption.ts'
import type { Reservation, WaitingCall } from '../../../../core/inference/metering/meter.ts'
import { choicesOf, estimateOf } from '../../../../core/inference/metering/tokens.ts'
import { judgeFault, statusOf } from '../../../../core/inference/routing/attempt.ts'
import type { Breaker, Pass } from '../../../../core/inference/routing/breaker.ts'
import { continuable } from '../../../../core/inference/routing/continue-stream.ts'
import type { Outcome } from '../../../../core/ports/observer.ts'
import type { Soon } from '../../../../core/ports/soon.ts'
import type { ChatWire, Whole } from '../../../../core/ports/upstream.ts'
import { answeredBy } from '../backend-headers.ts'
import { usedByChat } from '../../../shared/used-by-chat.ts'
import { AnswerListener, type State } from './answer-listener.ts'
import { type BegunChat, type Given, type Ground, begunChat, groundOf } from './begun-chat.ts'
import type { CallEvents } from './call-events.ts'
import type { Door } from './door.ts'
import { type LeftCall, endByFault, giveGuarded, leftBy, restElsewhere, sendRest, streamWhole } from './elsewhere.ts'
import { SignsOfLife, lookAtAsking, lookAtFlowing } from './looks.ts'
import { answerBytes } from './parts.ts'

/** Null before the first call has loaded what a call needs, and where the configuration lets no chat go straight. */
export const chatCallNow = <Input, Own>(
  entry: StraightEntry,
  given: Given & Own,
  door: Door<Input, Own>,
): StraightCall | null => {
  const ground = groundOf(entry, given, door)
  return ground && new ChatNow(ground)
}

/** One chat from its body to the end of its answer: all of its state, and each event of its connections. */
class ChatNow extends AnswerListener implements StraightCall, WaitingCall {
  before: ChatNow | null = null
  behind: ChatNow | null = null
  next: WaitingCall | null = null
  first: StraightCall['first'] = 'all'
  resolve: () => void = () => undefined
  reject: (reason: unknown) => void = () => undefined
  readonly #ground: Ground
  #began = 0
  /** Absent while guards look at the chat. */
  #begun!: BegunChat
  /** Null where the search asks the first backend too. */
  #wire: ChatWire | null = null
  #breaker!: Breaker
  #pass: Pass = 'plain'
  /** Guessed tokens of the prompt. */
  #input = 0
  #reservation: Reservation<Consumption> | null = null
  /** The request to the backend, later the answer to the caller. */
  #sent: string | Uint8Array = ''
  /** Null for a whole answer. */
  #stream: CallEvents | null = null
  /** Events up to the first token, and those of the end. */
  #held = ''
  #since = 0
  /** When the last bytes of the stream came. */
  #heard = 0
  readonly #signs = new SignsOfLife()
  #other: AbortController | null = null

  constructor(ground: Ground) {
    super(ground.at.clock)
    this.#ground = ground
  }

  begin(scan: JsonScan): boolean {
    let begun: Soon<BegunChat> | null
    try {
      begun = begunChat(this.#ground, scan, () => this.#signal())
    } catch (refusal) {
      // The long way words the fault.
      if (refusal instanceof GatewayError) return false
      throw refusal
    }
    if (begun === null) return false
    this.first = begun instanceof Promise ? 'guards' : begun.wire === null ? 'search' : 'all'
    if (begun instanceof Promise)
      begun.then((guarded) => this.#starts(guarded)).catch((refusal: unknown) => this.#refused(refusal))
    else this.#starts(begun)
    return true
  }

  #starts(begun: BegunChat): void {
    const { at, given, calls } = this.#ground
    // The client may have left while guards looked at the chat.
    if (this.state !== 'asking') return
    const { model, candidate, body, worded } = begun
    const estimate = estimateOf(body, worded.user)
    this.#began = at.clock.now()
    this.#breaker = calls.shared.breakerOf(candidate.id)
    // Where the breaker is open, the search finds another backend, or words the fault.
    const pass = begun.wire === null ? null : this.#breaker.enter(this.#began)
    this.#wire = pass === null ? null : begun.wire
    ;[this.#pass, this.#begun, this.#sent] = [pass ?? 'plain', begun, begun.sent]
    this.#input = estimate.input
    this.#stream = begun.streamOf(choicesOf(body), continuable(model, body))
    this.streams = this.#stream !== null
    if (begun.streams) Object.assign(at.answer.headers, begun.worded.dropped)
    try {
      const reserved = given.meter.open(at.caller, model, estimate, at.record)
      if (reserved instanceof Promise)
        reserved.then((reservation) => this.#reserved(reservation)).catch((refusal: unknown) => this.#refused(refusal))
      else this.#reserved(reserved)
    } catch (refusal) {
      this.#refused(refusal)
    }
  }

  #refused(refusal: unknown): void {
    if (this.state === 'asking' && this.#wire !== null) this.#breaker.left(this.#pass)
    this.state = 'over'
    this.reject(refusal)
  }

  #reserved(reservation: Reservation<Consumption>): void {
    // The client may have left while a limiter was asked.
    if (this.state !== 'asking') {
      void reservation.cancel()
      return this.#ground.given.meter.keep()
    }
    this.#reservation = reservation
    Object.assign(this.#ground.at.answer.headers, reservation.headers)
    this.#ground.at.beats.add(this)
    this.#ground.given.meter.waits(this)
  }

  /** The lines of the ledger are written. */
  kept(): void {
    if (this.state === 'asking') return this.#ask()
    if (this.state !== 'ending') return
    const { answer } = this.#ground.at
    if (this.#stream === null) answer.whole(this.#sent)
    else if (this.#stream.rest.length === 0) answer.end(this.#held)
    else this.#ends(sendRest(this.#leftCall(null, true), this.#held, this.#stream.rest))
    this.#sent = this.#held = ''
  }

  #ask(): void {
    const wire = this.#wire
    const isSent = wire?.push(wire.url, wire.headers, this.#sent, this) ?? false
    this.#sent = ''
    if (isSent) return
    if (wire !== null) this.#breaker.left(this.#pass)
    this.#goElsewhere(null, false)
  }

  protected override whole(bytes: Buffer): void {
    let answer
    try {
      answer = this.wire.whole(bytes, this.status)
    } catch (fault) {
      return this.broke(fault)
    }
    if (!(answer instanceof Promise)) return this.#gives(answer, bytes)
    const given = answer.then((whole) => this.#gives(whole, bytes))
    // A fault of the reading is the backend's, and one behind it is our own.
    given.catch((fault: unknown) => (this.state === 'asking' ? this.broke(fault) : this.reject(fault)))
  }

  #gives(answer: Whole, bytes: Buffer): void {
    // The client may have left while the answer was read, or its time may have run out.
    if (this.isEnding()) return
    const { completion } = answer
    const { model, candidate, passage } = this.#begun
    this.#answered(this.#ground.at.clock.now())
    // Given as the stream that the caller asked for.
    if (this.#stream !== null) return this.#ends(streamWhole(this.#leftCall(null, false), completion, candidate))
    const used = usedByChat(this.#input, completion.usage, sizeOf(completion))
    // An answer that guards refuse was used too.
    if (passage !== null) this.#settle(used, candidate.provider, candidate.id)
    if (passage !== null) return this.#ends(giveGuarded(this.#leftCall(null, false), passage, answer))
    void this.#reservation?.settle(used, candidate.provider, candidate.id)
    let printed
    try {
      printed = answerBytes(answer, bytes, model.name, this.#begun)
    } catch (fault) {
      return this.#unspeakable(fault)
    }
    this.state = 'ending'
    if (!(printed instanceof Promise)) return this.#sends(printed)
    printed.then((whole) => this.#sends(whole)).catch((fault: unknown) => this.#unspeakable(fault))
  }

  #sends(whole: string | Uint8Array): void {
    this.#sent = whole
    this.#ground.given.meter.waits(this)
  }

  /** The backend has answered, with its first token or wholly. */
  #answered(now: number): void {
    const { worded, model, candidate } = this.#begun
    const { headers } = this.#ground.at.answer
    Object.assign(headers, worded.dropped)
    if (model.candidates.length > 1) Object.assign(headers, answeredBy(model, candidate.id))
    this.#breaker.ok(this.#pass)
    this.#pass = 'plain'
    this.#tellSeen('answered', now - this.#began)
  }

  #tellSeen(outcome: Outcome, ms: number, status: number | null = null): void {
    const { provider, model } = this.#begun.candidate
    const cause = outcome === 'broke' ? null : 'first'
    const [request, streams] = [this.#ground.at.record.id, this.#stream !== null]
    this.#ground.calls.shared.saw(provider, outcome, ms, status, { model, streams, cause, request })
  }

  protected override get wire(): ChatWire {
    if (this.#wire === null) throw new Error('No line was asked')
    return this.#wire
  }

  protected override events(part: Buffer, taken: () => void): false | void {
    const stream = this.#stream
    if (stream === null) return
    this.#heard = this.#ground.at.clock.now()
    const events = stream.read(part, this.status)
    if (stream.isEnded && stream.fault === null) return this.#end(stream, events)
    const isTaken = this.#write(stream, events, taken)
    if (stream.isUnspeakable) this.#unspeakable(stream.fault)
    else if (stream.fault !== null) this.broke(stream.fault)
    if (!isTaken) return false
  }

  /** Ends an answer that the caller's dialect can't word. */
  #unspeakable(fault: unknown): void {
    const { line } = this
    this.line = null
    if (this.state === 'asking') this.#answered(this.#ground.at.clock.now())
    this.state = 'elsewhere'
    line?.abort(fault as Error)
    const { usage = null, characters = 0 } = this.#stream ?? {}
    const { provider, id } = this.#begun.candidate
    this.#settle(usedByChat(this.#input, usage, characters), provider, id)
    this.#ends(endByFault(this.#leftCall(null, true), fault))
  }

  #write(stream: CallEvents, events: string, taken: () => void): boolean {
    let out = events
    if (this.state === 'asking') {
      this.#held += out
      if (!stream.speaks) return true
      out = this.#held
      this.#held = ''
      this.#opens()
    }
    if (out === '') return true
    this.#ground.at.answer.begin()
    return this.#ground.at.answer.write(out, taken)
  }

  /** The first token is there. */
  #opens(): void {
    this.state = 'flowing'
    this.#since = this.#ground.at.clock.now()
    this.#answered(this.#since)
    this.#reservation?.began()
  }

  protected override ended(): void {
    const stream = this.#stream
    if (stream === null) return
    try {
      stream.cut(this.status)
    } catch (fault) {
      return this.broke(fault)
    }
    this.#end(stream, '')
  }

  #end(stream: CallEvents, events: string): void {
    if (this.state === 'asking') {
      if (!stream.speaks && this.#held === '' && events === '')
        return this.broke(new UpstreamFailed(undefined, { again: true, cause: new Error('An empty stream') }))
      this.#opens()
    }
    this.#held += events + stream.finish()
    if (stream.isUnspeakable) return this.#unspeakable(stream.fault)
    this.state = 'ending'
    const { provider, id } = this.#begun.candidate
    void this.#reservation?.settle(usedByChat(this.#input, stream.usage, stream.characters), provider, id)
    this.#ground.given.meter.waits(this)
  }

  protected override broke(fault: unknown): void {
    if (this.isEnding()) return
    const now = this.#ground.at.clock.now()
    const stream = this.#stream
    const isFlowing = this.state === 'flowing'
    const line = this.line
    this.line = null
    this.state = 'elsewhere'
    // An abort reports its error at once, within this call.
    line?.abort(fault as Error)
    if (!isFlowing && this.wire.learn?.(fault)) {
      this.#breaker.left(this.#pass)
      return this.#goElsewhere(null, false)
    }
    judgeFault(this.#breaker, this.#pass, fault, now)
    const [outcome, since] = isFlowing ? (['broke', this.#since] as const) : (['failed', this.#began] as const)
    this.#tellSeen(outcome, now - since, statusOf(fault))
    // A failure behind the finish reason does not affect the answer.
    if (isFlowing && stream !== null && stream.unfinished <= 0) this.#end(stream, '')
    else this.#goElsewhere({ candidate: this.#begun.candidate, fault, began: this.#began }, isFlowing)
  }

  /** With null nobody was asked yet. */
  #goElsewhere(before: Before | null, isFlowing: boolean): void {
    const rest = restElsewhere(this.#leftCall(before, isFlowing), this.#begun.streams, this.#signal())
    this.#ends(
      rest.catch((error: unknown) => {
        this.#settle(null, null)
        throw error
      }),
    )
  }

  /** The rest of the answer comes by a promise. */
  #ends(rest: Promise<void>): void {
    this.state = 'elsewhere'
    this.#ground.at.beats.delete(this)
    rest.then(this.resolve, this.reject)
  }

  #signal(): AbortSignal {
    return (this.#other ??= lendController()).signal
  }

  #leftCall(before: Before | null, isFlowing: boolean): LeftCall {
    const stream = isFlowing ? this.#stream : null
    return {
      ...leftBy(this.#ground, this.#begun, before, stream),
      settle: ({ usage, size, backend, by, broken }) =>
        this.#settle(backend === null ? null : usedByChat(this.#input, usage, size, broken), backend, by),
      began: () => {
        if (!isFlowing) this.#reservation?.began()
      },
    }
  }

  /** Settles what was reserved, and keeps the ledger's line at once. */
  #settle(used: Consumption | null, backend: string | null, by?: string): void {
    void this.#reservation?.settle(used, backend, by)
    this.#ground.given.meter.keep()
  }

  /** The response has closed. */
  closed(whole: boolean): void {
    this.#ground.at.beats.delete(this)
    if (this.state === 'elsewhere') {
      if (!whole) this.#other?.abort(new Aborted())
      return
    }
    const was = this.state
    this.state = 'over'
    if (was === 'ending' || was === 'over' || whole) return this.resolve()
    this.#left(was)
    this.reject(new Aborted())
  }

  /** The client has left before the end of its answer. */
  #left(was: State): void {
    if (this.#begun === undefined) return this.#other?.abort(new Aborted())
    const { provider, id } = this.#begun.candidate
    this.line?.abort(new Aborted())
    this.line = null
    if (this.#wire !== null) this.#breaker.left(this.#pass)
    if (was === 'flowing' && this.#stream !== null)
      return this.#settle(usedByChat(this.#input, this.#stream.usage, this.#stream.characters), provider, id)
    if (this.#wire !== null) this.#tellSeen('left', this.#ground.at.clock.now() - this.#began)
    this.#settle(null, null)
  }

  /** Looked at a few times in a second. */
  beat(now: number): number {
    const { at, calls } = this.#ground
    const { timeouts } = calls.shared
    const isFlowing = this.state === 'flowing'
    if (at.answer.isStalled(now)) {
      // A reader that is slow to take is not the backend's fault.
      this.#heard = now
      return Infinity
    }
    if (!isFlowing && this.state !== 'asking') return Infinity
    const { fault, left } = isFlowing
      ? lookAtFlowing(timeouts, this.#began, this.#heard, now)
      : lookAtAsking(timeouts, this.#stream !== null, this.#began, now)
    // A stream that took too long is not gone on with.
    if (fault?.again === false && this.#stream !== null) this.#stream.soFar = null
    if (fault !== null) this.broke(fault)
    else if (!isFlowing && this.#stream !== null) return Math.min(left, this.#signs.next(at.answer, now - this.#began))
    return left
  }
}
