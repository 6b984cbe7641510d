import { randomBytes } from 'node:crypto'
import { NotFound } from '../../../core/errors.ts'
import type { Enclave, Keyset } from '../../../core/ports/enclave.ts'
import type { Alarm, Clock } from '../../../core/ports/platform.ts'
import type { ProofObserver } from '../../../core/ports/proof-observer.ts'
import { platformOf } from '../../../plugins/sealed/evidence/platforms.ts'
import type { TestRoots } from '../../../plugins/sealed/evidence/policy.ts'

/** In ms: the first check after the start, and the pause between checks. */
const pauseMs = { first: 1_000, next: 60_000 }
/** The largest number of checked enclave processes. */
const mostLooked = 64

/**
 * The reason for which a client with the profile `standard` would refuse these keys. Null when it would accept them,
 * and for kinds that prove nothing.
 */
const refusalOf = async (
  { keyset, evidence }: Keyset,
  challenge: Uint8Array,
  now: number,
  testRoots: TestRoots | undefined,
): Promise<string | null> => {
  const platform = platformOf(evidence.type)
  if (platform === null) return null
  const [{ inspect }, { Refusal }, { reportData }] = await Promise.all([
    import('../../../plugins/sealed/evidence/appraise.ts'),
    import('../../../plugins/sealed/evidence/reasons.ts'),
    import('../../../plugins/sealed/wire/keyset.ts'),
  ])
  const keysetHash = reportData(new Uint8Array(Buffer.from(keyset, 'hex')), challenge).subarray(0, 32)
  const policy = { platforms: [platform], ...(testRoots && { testRoots }) }
  try {
    await inspect(evidence, policy, { keysetHash, challenge, now })
    return null
  } catch (error) {
    if (error instanceof Refusal) return error.reason
    throw error
  }
}

/**
 * Checks every keyset of each enclave process once as a client would, so that an operator sees a refusal before clients
 * do. The check stops no request. `end` ends the checks.
 */
export const checkOwnKeysets = (
  enclave: Pick<Enclave, 'keys' | 'attest'>,
  { clock, proof }: { clock: Clock; proof: ProofObserver },
  testRoots: TestRoots | undefined,
): { look(): Promise<void>; end(): void } => {
  const known = new Map<string, { readonly keyset: string; readonly refusal: string | null }>()

  /** False when no process has this name. */
  const lookAt = async (name: string): Promise<boolean> => {
    try {
      const { keyset } = await enclave.keys(name)
      const before = known.get(name)
      if (before?.keyset === keyset && before.refusal === null) return true
      const challenge = new Uint8Array(randomBytes(32))
      const answer = await enclave.attest(challenge, name)
      const refusal = await refusalOf(answer, challenge, clock.now(), testRoots)
      known.set(name, { keyset: answer.keyset, refusal })
      return true
    } catch (error) {
      known.delete(name)
      // A process that is down has its own event in the log.
      return !(error instanceof NotFound)
    }
  }

  const look = async (): Promise<void> => {
    for (let at = 0; at < mostLooked && (await lookAt(`e${at}`)); at++) continue
    const refusals = [...known.values()].map(({ refusal }) => refusal)
    proof.appraised(refusals.find((refusal) => refusal !== null) ?? null)
  }

  let alarm: Alarm | null = null
  let over = false
  const wait = (ms: number): void => {
    if (over) return
    alarm = clock.alarm(ms, () => void look().finally(() => wait(pauseMs.next)))
  }
  wait(pauseMs.first)
  return {
    look,
    end() {
      over = true
      alarm?.off()
    },
  }
}
