import { clockSkewMs } from './chain.ts'
import type { ReleaseKeys } from './policy.ts'
import { type Reason, demand, readable } from './reasons.ts'
import { type Reader, oneOf, text, whole } from './shape.ts'
import { checkSigned } from './signed.ts'

/** A signed list without which the policy refuses all evidence. */
interface DemandedList<List> {
  /** The name of the list in refusals. */
  readonly name: string
  readonly format: string
  /** The reason of a refusal where no list is at hand, and what that refusal names. */
  readonly absent: readonly [Reason, string]
  readonly read: Reader<List>
}

interface Dated {
  readonly issued: number
  readonly ends: number
}

/** In ms: a list for longer than 90 days would hide what became known meanwhile. */
export const longestLifeMs = 90 * 86_400_000

export const time = whole(0, Number.MAX_SAFE_INTEGER)

/** The members that every signed list has. */
export const listHead = (format: string) => ({
  format: oneOf(format),
  name: text(1, 128),
  serial: time,
  issued: time,
  ends: time,
})

/** Reads the list that the policy demands. Throws unless enough keys signed the list and the list is current. */
export const readDemanded = async <List extends Dated>(
  { name, format, absent, read }: DemandedList<List>,
  keys: ReleaseKeys,
  now: number,
): Promise<List> => {
  const signed = keys.document
  demand(signed !== undefined, ...absent)
  await checkSigned(format, signed.text, signed.signatures, keys)
  const list = readable(() => read(JSON.parse(signed.text), name), name)
  const { issued, ends } = list
  demand(issued <= ends && ends - issued <= longestLifeMs, 'evidence_malformed', name)
  demand(issued <= now + clockSkewMs && now <= ends, 'collateral_expired', name)
  return list
}
