import type { IncomingMessage, ServerResponse } from 'node:http'
import { gatheredBytes } from '../gathered-bytes.ts'
import { Aborted, BadRequest, BodyTaken, TooSlow } from '../errors.ts'
import type { Clock } from '../ports/platform.ts'
import { isInTinyChunks } from './unwanted-bytes.ts'

/** A body on its way in: who pays for its bytes, and how slowly they may come. */
export interface Intake {
  /** The whole body in memory. The bytes belong to the caller. */
  whole(most: number, oversized: () => Error): Promise<Buffer>
  /** The body as it comes in, where a reader that keeps it has its bytes held. Leaving early keeps the socket: the answer still has to go out. */
  pieces(isHeld?: boolean): AsyncGenerator<Buffer>
}

/** What the caller and the settings allow one body. */
export interface IntakeTerms {
  readonly clock: Clock
  readonly held: { grow(bytes: number): void }
  /** Takes bytes from the allowances of the caller; rejects when they are used up. */
  charge(bytes: number): Promise<void>
  /** Bytes in a second that a body needs on average. */
  readonly leastRate: number
}

/** Ms over which the rate of a body is measured, and ms in which a sender that goes on shows it. */
const [window, lately] = [15_000, 3_000]
/** Bytes of a body that wait for a reader of its pieces before the sender does. */
const pieceBytes = 32 * 1024
/** Bytes of a body without a length that are charged at once, and that are held at once. */
const [block, heldBlock] = [256 * 1024, 4 * 1024]
/** Bytes of a body that are read in one turn of the loop, where the system has megabytes ready; each part costs some more. */
const [turnBytes, partBytes] = [256 * 1024, 512]

/** Ms after which a body in tiny chunks is refused: a sender of many takes little of the loop then. */
const tinyMs = 100

/** One body, and what it owes. */
interface Incoming {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly terms: IntakeTerms
  /** Bytes that the head of the request names; null without a length. */
  readonly declared: number | null
  /** Bytes that came and are not charged yet, and those that are not held yet. */
  unpaid: number
  unheld: number
}

/** Requests whose sender waits for a word before it sends the body. */
const waiting = new WeakSet<IncomingMessage>()

/** Notes a request with `Expect: 100-continue` (RFC 9110, 10.1.1). */
export const awaitsContinue = (request: IncomingMessage): void => void waiting.add(request)

/** Lets the body come: only now is the caller known and the body wanted. */
const mayContinue = (request: IncomingMessage, response: ServerResponse): void => {
  if (waiting.delete(request)) response.writeContinue()
}

/**
 * The two methods are alternatives: one body is read once. Each rejects with Aborted when the client leaves
 * before the end of its body.
 */
export const bodyIntake = (request: IncomingMessage, response: ServerResponse, terms: IntakeTerms): Intake => {
  const length = request.headers['content-length']
  const declared = length === undefined ? null : Number(length)
  const body: Incoming = { request, response, terms, declared, unpaid: 0, unheld: 0 }
  return {
    async whole(most, oversized) {
      const kept = gatheredBytes(declared === null ? null : Math.min(declared, most))
      const take = (part: Buffer) => {
        if (kept.length + part.length > most) throw oversized()
        kept.add(part)
      }
      await new Promise<void>((resolve, reject) => readByEvents(body, true, take, resolve, reject))
      return kept.whole()
    },
    pieces: (isHeld = false) => piecesOf(body, isHeld),
  }
}

/** Holds bytes as they come, block by block. Bytes of a known length are held from the beginning. */
const hold = (body: Incoming, part: Buffer): void => {
  if (body.declared !== null || (body.unheld += part.length) < heldBlock) return
  body.terms.held.grow(body.unheld)
  body.unheld = 0
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

/**
 * Reads by events: the async iterator costs several times as much, and this runs on every request. `done` or `fail` is
 * called once, unless the reader leaves before by what is given back.
 */
const readByEvents = (
  body: Incoming,
  isHeld: boolean,
  take: (part: Buffer) => void,
  done: () => void,
  fail: (error: Error) => void,
): (() => void) => {
  const { request, response, declared, terms } = body
  if (request.readableEnded) throw new BodyTaken()
  if (isHeld && declared !== null) terms.held.grow(declared)
  mayContinue(request, response)
  let over = false
  let read = 0
  const failed = (error: Error) => end(() => fail(error))
  const { clock, leastRate } = terms
  const patience = request.complete ? null : patient(request, clock, leastRate, failed)
  const end = (finish: () => void) => {
    if (over) return
    over = true
    patience?.off()
    finish()
  }
  let isRefused = false
  const refuseTiny = () => {
    isRefused = true
    clock.alarm(tinyMs, () => failed(new BadRequest('The body comes in chunks of less than 64 bytes')))
  }
  request.on('data', (part: Buffer) => {
    if (over || isRefused) return
    patience?.came(part.length)
    if ((read += part.length + partBytes) >= turnBytes) {
      read = 0
      request.socket.pause()
      setImmediate(() => request.socket.resume())
    }
    try {
      if (isHeld) hold(body, part)
      if (declared === null && isInTinyChunks(request)) return refuseTiny()
      take(part)
      paid(body, part.length, block)?.catch(failed)
    } catch (error) {
      failed(error as Error)
    }
  })
  request.on('end', () => {
    if (isRefused) return
    const last = over ? null : paid(body, 0, 1)
    if (last === null) end(done)
    else last.then(() => end(done), failed)
  })
  request.on('close', () => {
    // A body that came whole may still wait for its last charge.
    if (!request.readableEnded) failed(new Aborted())
  })
  if (request.destroyed) failed(new Aborted())
  return () => end(() => request.pause())
}

/**
 * Calls `late` once for a body that came too slowly for a whole window. A sender that kept the rate lately has a window
 * anew, and time in which the sender waited for the reader is none of its own. A body that came with its head needs no clock.
 */
export const patient = (request: IncomingMessage, clock: Clock, leastRate: number, late: (error: Error) => void) => {
  let recent = 0
  let left = window
  const watch = () =>
    clock.alarm(lately, () => {
      if (recent >= (leastRate * lately) / 1000) left = window
      else if (!request.isPaused()) left -= lately
      recent = 0
      if (left <= 0) return late(new TooSlow('The body comes too slowly'))
      alarm = watch()
    })
  let alarm = watch()
  return {
    came: (bytes: number) => void (recent += bytes),
    off: () => alarm.off(),
  }
}

async function* piecesOf(body: Incoming, isHeld: boolean): AsyncGenerator<Buffer> {
  const { request } = body
  let came = gatheredBytes()
  let end = null as 'whole' | Error | null
  let wake = () => {}
  const ends = (how: 'whole' | Error) => {
    end = how
    wake()
  }
  const take = (part: Buffer) => {
    came.add(part)
    if (came.length >= pieceBytes) request.pause()
    // A reader that goes on at each chunk would cost a hundred times a short chunk.
    if (came.length === part.length) setImmediate(() => wake())
  }
  const leave = readByEvents(body, isHeld, take, () => ends('whole'), ends)
  try {
    for (;;) {
      if (end instanceof Error) throw end
      if (came.length > 0) {
        const piece = came.whole()
        came = gatheredBytes()
        yield piece
      } else if (end !== null) return
      else {
        const next = new Promise<void>((resolve) => (wake = resolve))
        request.resume()
        await next
      }
    }
  } finally {
    leave()
  }
}
