import { GatewayError } from '../../../../core/errors.ts'
import { gatheredBytes } from '../../../../core/gathered-bytes.ts'
import type { HeldBytes } from '../../../../core/http/route.ts'
import { type Member, shortValue } from './words.ts'

/** JSON in parts. */
export type Parts = readonly Buffer[]

export const lengthOf = (parts: Parts): number => parts.reduce((sum, part) => sum + part.length, 0)

/** What stands between members and between items. */
export const comma = Buffer.from(',')

/** Items behind one another. */
export const joined = (before: Parts, after: Parts): Parts =>
  before.length > 0 && after.length > 0 ? [...before, comma, ...after] : [...before, ...after]

/** Bytes from which on a part stays by itself. */
const longPart = 64 * 1024

const copied = (parts: Parts): Buffer => {
  const copy = gatheredBytes(lengthOf(parts))
  for (const part of parts) copy.add(part)
  return copy.whole()
}

/** The same bytes in few parts, none of which keeps a message that is twice as long. */
const compact = (parts: Parts): Parts => {
  const kept: Buffer[] = []
  let short: Buffer[] = []
  const endRun = (): void => {
    if (short.length > 0) kept.push(copied(short))
    short = []
  }
  for (const part of parts) {
    if (part.length < longPart) {
      short.push(part)
      continue
    }
    endRun()
    kept.push(part.buffer.byteLength > 2 * part.length ? copied([part]) : part)
  }
  endRun()
  return kept
}

const memoryOf = (parts: Parts): number => parts.reduce((sum, { buffer }) => sum + buffer.byteLength, 0)

/** Remembers the conversation of the last response of one connection, up to so many bytes, and nothing beyond the connection. */
export const chain = (most: number, held: HeldBytes) => {
  let id: string | null = null
  let items: Parts = []
  const forget = (): void => {
    held.shrink(memoryOf(items))
    id = null
    items = []
  }
  return {
    /** The items up to a response; null where the connection remembers no such response. */
    until(previous: Member | null): Parts | null {
      if (previous === null) return []
      return id === null || shortValue(previous) !== id ? null : items
    },
    /** Where the caller has no room for the items, they are forgotten. */
    remember(response: string, parts: Parts): void {
      if (lengthOf(parts) > most) return forget()
      const kept = compact(parts)
      try {
        held.grow(memoryOf(kept))
      } catch (fault) {
        if (!(fault instanceof GatewayError)) throw fault
        return forget()
      }
      forget()
      id = response
      items = kept
    },
    forget,
  }
}

export type Chain = ReturnType<typeof chain>
