import type { IncomingMessage, ServerResponse } from 'node:http'
import { Aborted, BadRequest, GatewayError, Unavailable } from '../errors.ts'
import type { Clock } from '../ports/platform.ts'
import type { HeldBytes } from './body-budget.ts'
import { mayContinue } from './continue.ts'

/** A body on its way in: who pays for its bytes, and how slowly they may come. */
export interface Intake {
  /** The whole body in memory. The bytes belong to the caller. */
  whole(most: number, oversized: () => Error): Promise<Buffer>
  /** The body as it comes in. Leaving early keeps the socket: the answer still has to go out. */
  pieces(): AsyncGenerator<Uint8Array>
  /** Lets another reader of the request count what it takes; the promise rejects when it must stop. */
  counted(): Promise<never>
}

/** What the caller and the settings allow one body. */
export interface IntakeTerms {
  readonly clock: Clock
  readonly held: HeldBytes
  /** Takes bytes from the allowances of the caller; rejects when they are used up. */
  charge(bytes: number): Promise<void>
  /** Bytes in a second that a body needs on average. */
  readonly leastRate: number
}

/** Ms over which the rate of a body is measured. */
const window = 15_000
/** Bytes of a body without a length that are charged at once. */
const block = 256 * 1024

/** Bytes from which on a body is gathered in one piece of memory: its parts and their sum would take twice its length. */
const onePieceBytes = 1024 * 1024

const intoOne = (length: number) => {
  const whole = Buffer.from(new ArrayBuffer(length))
  let size = 0
  return {
    add: (part: Buffer) => void (size += part.copy(whole, size)),
    whole: () => whole.subarray(0, size),
  }
}

const inParts = () => {
  const parts: Buffer[] = []
  return {
    add: (part: Buffer) => void parts.push(part),
    whole: () => (parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)),
  }
}

const tooSlow = () => new BadRequest('The body comes too slowly')

/** One body, and what it owes. */
interface Incoming {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly terms: IntakeTerms
  /** Bytes that the head of the request names; null without a length. */
  readonly declared: number | null
  /** Bytes that came and are not charged yet. */
  unpaid: number
}

/**
 * The three methods are alternatives: one body is read once. Each rejects with Aborted when the client leaves
 * before the end of its body.
 */
export const bodyIntake = (request: IncomingMessage, response: ServerResponse, terms: IntakeTerms): Intake => {
  const length = request.headers['content-length']
  const declared = length === undefined ? null : Number(length)
  const body: Incoming = { request, response, terms, declared, unpaid: 0 }
  return {
    async whole(most, oversized) {
      begin(body)
      const kept = declared !== null && declared > onePieceBytes ? intoOne(declared) : inParts()
      let size = 0
      await new Promise<void>((resolve, reject) =>
        readByEvents(
          body,
          (part) => {
            size += part.length
            if (size > most) throw oversized()
            kept.add(part)
          },
          resolve,
          reject,
        ),
      )
      return kept.whole()
    },

    pieces: () => piecesOf(body),

    counted() {
      begin(body)
      return new Promise<never>((_, reject) =>
        readByEvents(
          body,
          () => {},
          () => {},
          reject,
        ),
      )
    },
  }
}

/** Charges the bytes that came, as soon as there are so many. Bytes of a known length were charged with the request. */
const paid = (body: Incoming, bytes: number, atLeast: number): Promise<void> | null => {
  if (body.declared !== null) return null
  body.unpaid += bytes
  if (body.unpaid < atLeast || body.unpaid === 0) return null
  const due = body.unpaid
  body.unpaid = 0
  return body.terms.charge(due)
}

/** A reader that took this body takes the next one too, so the refusal names no time. */
const mustBeUnread = ({ request }: Incoming): void => {
  if (request.readableEnded) throw new Unavailable('Another reader took the body first', { retryAfter: null })
}

const begin = (body: Incoming): void => {
  mustBeUnread(body)
  if (body.declared !== null) body.terms.held.grow(body.declared)
  mayContinue(body.request, body.response)
}

/** Reads by events: the async iterator costs several times as much, and this runs on every request. */
const readByEvents = (
  body: Incoming,
  take: (part: Buffer) => void,
  done: () => void,
  fail: (error: Error) => void,
): void => {
  const { request, declared } = body
  const { clock, held, leastRate } = body.terms
  let over = false
  let recent = 0
  const end = (finish: () => void) => {
    if (over) return
    over = true
    alarm?.off()
    finish()
  }
  const watch = () =>
    clock.alarm(window, () => {
      if (recent < (leastRate * window) / 1000) return end(() => fail(tooSlow()))
      recent = 0
      alarm = watch()
    })
  // A body that came with its head needs no clock.
  let alarm = request.complete ? null : watch()
  const failed = (error: Error) => end(() => fail(error))
  request.on('data', (part: Buffer) => {
    if (over) return
    recent += part.length
    try {
      if (declared === null) held.grow(part.length)
      take(part)
      paid(body, part.length, block)?.catch(failed)
    } catch (error) {
      failed(error as Error)
    }
  })
  request.on('end', () => {
    const last = over ? null : paid(body, 0, 1)
    if (last === null) end(done)
    else last.then(() => end(done), failed)
  })
  request.on('close', () => {
    // A body that came whole may still wait for its last charge.
    if (!request.readableEnded) failed(new Aborted())
  })
}

async function* piecesOf(body: Incoming): AsyncGenerator<Uint8Array> {
  const { request, response } = body
  const { clock, leastRate } = body.terms
  mustBeUnread(body)
  mayContinue(request, response)
  const source = request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>
  let patience = window
  let late = false
  const inTime = (next: Promise<IteratorResult<Buffer>>): Promise<IteratorResult<Buffer>> =>
    new Promise((resolve, reject) => {
      const alarm = clock.alarm(Math.max(1, patience), () => {
        late = true
        reject(tooSlow())
      })
      next.then(resolve, reject).finally(() => alarm.off())
    })
  try {
    for (;;) {
      const began = clock.now()
      const { done, value } = await inTime(source.next())
      if (done) break
      patience = Math.min(window, patience - (clock.now() - began) + (value.length / leastRate) * 1000)
      await paid(body, value.length, block)
      yield value
    }
    await paid(body, 0, 1)
  } catch (cause) {
    throw request.complete || cause instanceof GatewayError ? cause : new Aborted({ cause })
  } finally {
    // An iterator that still waits for a late piece would hold up its own end.
    if (!late) await source.return?.()
  }
}
