import { garbled } from '../../../shared/backend.ts'
import type { SaidPart } from './said-parts.ts'

type Call = NonNullable<SaidPart['functionCall']>

/** One value of the arguments, or a piece of a string. */
interface Piece {
  /** `$.places[0].name` */
  readonly jsonPath?: unknown
  readonly stringValue?: unknown
  readonly numberValue?: unknown
  readonly boolValue?: unknown
  readonly nullValue?: unknown
}

/** Joins the pieces of calls, which the vendor streams on demand. One for each candidate. */
export interface CallPieces {
  /** The parts with each call whole, in the place of the last piece. `last`: no more pieces come. */
  join(parts: readonly SaidPart[], last: boolean): readonly SaidPart[]
}

export const callPieces = (): CallPieces => {
  let open: SaidPart | null = null
  let args = empty()

  const close = (into: SaidPart[]): void => {
    if (open !== null) into.push({ ...open, functionCall: { ...open.functionCall, args } })
    open = null
  }
  const take = (part: SaidPart, call: Call, into: SaidPart[]): void => {
    if (call.name !== undefined) {
      close(into)
      open = part
      args = Object.assign(empty(), call.args)
    }
    if (open === null) return
    for (const piece of Array.isArray(call['partialArgs']) ? call['partialArgs'] : []) grow(args, piece as Piece)
    if (call['willContinue'] !== true) close(into)
  }
  return {
    join(parts, last) {
      if (open === null && !parts.some(isPiece)) return parts
      const whole: SaidPart[] = []
      for (const part of parts) {
        if (part.functionCall == null) whole.push(part)
        else take(part, part.functionCall, whole)
      }
      if (last) close(whole)
      return whole
    },
  }
}

const isPiece = ({ functionCall: call }: SaidPart): boolean =>
  call != null && (call.name === undefined || call['willContinue'] === true || call['partialArgs'] !== undefined)

const steps = /\.([^.[\]]+)|\[(\d+)\]|\[(?:'([^']*)'|"([^"]*)")\]/gy

/** Members by names, or places of a list. */
type Holder = Record<string | number, unknown>

/** Adds one value to the arguments. Throws UpstreamFailed for a path that leads nowhere. */
const grow = (args: Holder, piece: Piece): void => {
  const path = typeof piece.jsonPath === 'string' ? piece.jsonPath : ''
  let end = 1
  let within = args
  let key: string | number | null = null
  for (const [step, name, index, single, double] of path.slice(1).matchAll(steps)) {
    end += step.length
    const next = index === undefined ? (name ?? single ?? double)! : Number(index)
    if (key !== null) within = holderAt(within, key, typeof next === 'number')
    // A place far behind the end would be filled with empty ones.
    if (Array.isArray(within) !== (typeof next === 'number') || (Array.isArray(within) && Number(next) > within.length))
      throw garbled('A piece of a call without its place')
    key = next
  }
  if (key === null || !path.startsWith('$') || end !== path.length) throw garbled('A piece of a call without its place')
  within[key] = valueOf(within[key], piece)
}

const holderAt = (within: Holder, key: string | number, isList: boolean): Holder => {
  const there = within[key]
  if (typeof there === 'object' && there !== null) return there as Holder
  return (within[key] = isList ? ([] as unknown as Holder) : empty()) as Holder
}

/** Its members may have any name. */
const empty = (): Holder => Object.create(null) as Holder

const valueOf = (before: unknown, { stringValue, numberValue, boolValue, nullValue }: Piece): unknown => {
  if (typeof stringValue === 'string') return (typeof before === 'string' ? before : '') + stringValue
  return nullValue === undefined ? (numberValue ?? boolValue ?? before) : null
}
