import { readFile } from 'node:fs/promises'
import type { Enclave, Evidence, Keyset, SignedFile } from '../../../core/ports/enclave.ts'
import type { MetadataStore } from '../../../core/ports/metadata-store.ts'
import type { Clock, Fetch, Log, Alarm } from '../../../core/ports/platform.ts'
import type { ProofObserver } from '../../../core/ports/proof-observer.ts'
import { platformOf } from '../../../plugins/sealed/evidence/platforms.ts'
import type { TestRoots } from '../../../plugins/sealed/evidence/policy.ts'
import type { CollateralSettings } from '../config/collateral.ts'
import { lazy } from '../../../core/plugin.ts'
import { randomBytes } from 'node:crypto'
import { NotFound } from '../../../core/errors.ts'

const batching = lazy(() => import('./batches.ts'))

/** What the gateway adds to evidence; nothing in it makes a client trust more. */
export interface ProofSettings {
  readonly collateral: CollateralSettings
  /** Files with signed lists. The signatures of each stand beside it as `.sig`. */
  readonly releases?: string | undefined
  readonly notices?: string | undefined
  /** Set by code only: roots of a test platform, which prove nothing. */
  readonly testRoots?: TestRoots | undefined
}

/** The parts of the gateway that fetch, store and report pieces. */
export interface ProofNeeds {
  readonly clock: Clock
  readonly log: Log
  readonly fetch: Fetch
  readonly rows: MetadataStore
  readonly proof: ProofObserver
}

/** The signed file; null when no file is configured. The client checks the signatures, so the gateway does not. */
const signedFile = async (at: string | undefined): Promise<SignedFile | null> => {
  if (at === undefined) return null
  const [text, signatures] = await Promise.all([readFile(at, 'utf8'), readFile(`${at}.sig`, 'utf8')])
  return { text, signatures: JSON.parse(signatures) as SignedFile['signatures'] }
}

/** Loads what reads a platform's evidence; a gateway whose enclave proves nothing never needs it. */
const completing = async (needs: ProofNeeds, collateral: CollateralSettings, policy: object) => {
  const [{ completedEvidence: completed }, { pieceStore }, sources, { readPolicy }, { rulesOf }] = await Promise.all([
    import('./complete-evidence.ts'),
    import('./piece-store.ts'),
    import('./sources.ts'),
    import('../../../plugins/sealed/evidence/policy.ts'),
    import('../../../plugins/sealed/evidence/rules.ts'),
  ])
  const { amd, intel, intelRootList, folder } = collateral
  const source = folder === undefined ? sources.serviceSource(needs.fetch.upstream) : sources.folderSource(folder)
  const find = pieceStore(needs, source)
  const { snp, tdx } = rulesOf(readPolicy(policy), needs.clock.now())
  const from = { amd: { service: amd, rules: snp }, intel: { service: intel, rootList: intelRootList, rules: tdx } }
  return (evidence: Evidence) => completed(evidence, find, from)
}

/**
 * An enclave whose evidence a client can check alone. The gateway adds certificates, lists, platform data and signed
 * releases, and makes one report for all waiting challenges.
 */
export const provenEnclave = (enclave: Enclave, needs: ProofNeeds, settings: ProofSettings): Enclave => {
  const { clock, log } = needs
  const { collateral, testRoots } = settings
  const policy = { ...(testRoots && { testRoots }) }
  let complete: ReturnType<typeof completing> | null = null

  const whole = async (keyset: Keyset): Promise<Keyset> => {
    if (platformOf(keyset.evidence.type) === null) return keyset
    try {
      complete ??= completing(needs, collateral, policy)
      return { ...keyset, evidence: await (await complete)(keyset.evidence) }
    } catch (cause) {
      // The client refuses unreadable evidence with a reason of its own.
      log.error('evidence.unreadable', { type: keyset.evidence.type.slice(0, 16) }, cause)
      return keyset
    }
  }

  const batched = lazy(async () => {
    const { batchedAttest } = await batching()
    return batchedAttest(async (challenge, name) => whole(await enclave.attest(challenge, name)), clock)
  })
  const attest: Enclave['attest'] = async (challenge, name) => (await batched())(challenge, name)
  const keys: Enclave['keys'] = async (name) => whole(await enclave.keys(name))
  const watch = checkOwnKeysets({ keys: enclave.keys, attest }, needs, testRoots)

  return {
    ...enclave,
    keys,
    attest,
    async signedLists() {
      const [releases, notices] = await Promise.all([signedFile(settings.releases), signedFile(settings.notices)])
      return { releases, notices }
    },
    async dispose() {
      watch.end()
      await enclave.dispose?.()
    },
  }
}

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
const checkOwnKeysets = (
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
