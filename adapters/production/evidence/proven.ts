import { readFile } from 'node:fs/promises'
import type { Enclave, Keyset, SignedFile } from '../../../core/ports/enclave.ts'
import type { MetadataStore } from '../../../core/ports/metadata-store.ts'
import type { Clock, Fetch, Log } from '../../../core/ports/platform.ts'
import type { ProofWitness } from '../../../core/ports/proof-witness.ts'
import { type TestRoots, readPolicy } from '../../../core/sealed/evidence/policy.ts'
import { rulesOf } from '../../../core/sealed/evidence/rules.ts'
import type { CollateralSettings } from '../config/collateral.ts'
import { batching } from './batches.ts'
import { completed } from './complete.ts'
import { watching } from './own-check.ts'
import { shelf } from './shelf.ts'
import { folder, services } from './sources.ts'

export interface ProofSettings {
  readonly collateral: CollateralSettings
  /** Files with signed lists. The signatures of each stand beside it as `.sig`. */
  readonly releases?: string | undefined
  readonly notices?: string | undefined
  /** Set by code only: roots of a test platform, which prove nothing. */
  readonly testRoots?: TestRoots | undefined
}

export interface ProofNeeds {
  readonly clock: Clock
  readonly log: Log
  readonly fetch: Fetch
  readonly rows: MetadataStore
  readonly proof: ProofWitness
}

/** The signed file; null when no file is configured. The client checks the signatures, so the gateway does not. */
const signedFile = async (at: string | undefined): Promise<SignedFile | null> => {
  if (at === undefined) return null
  const [text, signatures] = await Promise.all([readFile(at, 'utf8'), readFile(`${at}.sig`, 'utf8')])
  return { text, signatures: JSON.parse(signatures) as SignedFile['signatures'] }
}

/**
 * An enclave whose evidence a client can check alone. The gateway adds certificates, lists, platform data and signed
 * releases, and makes one report for all waiting challenges.
 */
export const proven = (it: Enclave, needs: ProofNeeds, settings: ProofSettings): Enclave => {
  const { clock, fetch, log } = needs
  const { collateral, testRoots } = settings
  const find = shelf(needs, collateral.folder === undefined ? services(fetch.upstream) : folder(collateral.folder))
  const rules = rulesOf(readPolicy({ ...(testRoots && { testRoots }) }), clock.now())
  const from = {
    amd: { service: collateral.amd, rules: rules.snp },
    intel: { service: collateral.intel, rootList: collateral.intelRootList, rules: rules.tdx },
  }

  const whole = async (keyset: Keyset): Promise<Keyset> => {
    try {
      return { ...keyset, evidence: await completed(keyset.evidence, find, from) }
    } catch (cause) {
      // The client refuses unreadable evidence with a reason of its own.
      log.error('evidence.unreadable', { type: keyset.evidence.type.slice(0, 16) }, cause)
      return keyset
    }
  }

  const attest = batching(async (challenge, name) => whole(await it.attest(challenge, name)), clock)
  const keys: Enclave['keys'] = async (name) => whole(await it.keys(name))
  const watch = watching({ keys: it.keys, attest }, needs, testRoots)

  return {
    ...it,
    keys,
    attest,
    async signedLists() {
      const [releases, notices] = await Promise.all([signedFile(settings.releases), signedFile(settings.notices)])
      return { releases, notices }
    },
    async dispose() {
      watch.end()
      await it.dispose?.()
    },
  }
}
