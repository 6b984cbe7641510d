import type { Planned } from './plan.ts'
import type { Got } from './send.ts'
import type { Watched } from './watch.ts'

/** A body that was sent, and what came of it. */
export interface Catch extends Planned {
  readonly status: Got['status']
  /** Bytes that went over the wire. */
  readonly sent: number
  readonly watched: Watched
  /** What is not as it should be. */
  readonly flaws: readonly string[]
}

export interface Bounds {
  /** Ms that a loop may stand still. */
  readonly stall: number
  /** Memory for each byte of a body. */
  readonly times: number
  /** Bytes of memory that any request may take beside. */
  readonly beside: number
}

const mebibyte = 1024 * 1024

/** Garbage of earlier bodies counts too: a young heap of V8 alone takes 48 MiB. */
export const bounds: Bounds = { stall: 300, times: 6, beside: 64 * mebibyte }

/** Bytes of a refused body that a gateway takes, so that its sender sees the answer. */
const drained = 4 * mebibyte

/** What a valid body may not be told. */
const invalid = /Validation failed|Malformed|sealed parameters are not valid/

/** Sealed parameters of a tool are short: a valid body that is filled up to a size is refused. */
const isPadded = ({ name }: Planned['target'], sent: number): boolean =>
  name.startsWith('sealed tools/') && sent > 16 * 1024

export const flawsOf = (
  { spoiled, target }: Planned,
  { status, text }: Got,
  sent: number,
  watched: Watched,
  { stall, times, beside }: Bounds,
): readonly string[] => {
  const most = times * sent + beside
  const sides = (['gateway', 'enclave'] as const).flatMap((name) => {
    const seen = watched[name]
    return [
      ...(seen.stall > stall ? [`the ${name} stood still for ${seen.stall.toFixed(0)} ms`] : []),
      ...(seen.peak > most ? [`the ${name} took ${(seen.peak / mebibyte).toFixed(0)} MiB`] : []),
    ]
  })
  return [
    ...sides,
    ...(status === 'silent' ? ['no answer'] : []),
    ...(status === 'severed' && sent <= drained ? ['a kept connection was cut'] : []),
    ...(typeof status === 'number' && status >= 500 && !target.declared.includes(status) ? [`status ${status}`] : []),
    // What the world is asked for is valid only where the world says so; a body that no header opens is never valid.
    ...(!target.path.startsWith('/ehbp/') &&
    spoiled.name === 'valid' &&
    target.declared.length === 0 &&
    !isPadded(target, sent) &&
    invalid.test(text)
      ? [`a valid body is refused with ${status}`]
      : []),
  ]
}
