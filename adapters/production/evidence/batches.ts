import { TooMany } from '../../../core/errors.ts'
import type { Keyset } from '../../../core/ports/enclave.ts'
import type { Clock } from '../../../core/ports/platform.ts'
import { leafOf, treeOf } from '../../../plugins/sealed/wire/tree.ts'

/** Evidence over the keys and 32 bytes chosen by the asker. */
export type Attest = (challenge: Uint8Array, name?: string) => Promise<Keyset>

/** The largest number of challenges in one report, and of waiting challenges. */
const batchLimits = { batch: 1024, waiting: 8192 }
/** In ms: how long a busy enclave is asked again, and the pause between two tries. */
const patienceMs = { all: 10_000, step: 50 }

/** The tree over these challenges, which no leaf of another tree fits. */
export const challengeTree = (challenges: readonly Uint8Array[]) =>
  treeOf(challenges.map((challenge) => leafOf('rvenc-challenge/1\0', challenge)))

/** A challenge that waits for the next report. */
interface Waiting {
  readonly challenge: Uint8Array
  tell(keyset: Keyset): void
  fail(error: unknown): void
}

/** True when the verifiers of this kind accept batches. */
const isGrouped = ({ evidence: { type } }: Keyset): boolean => ['sev-snp', 'tdx', 'nitro'].includes(type)

/** Asks a busy enclave again, for at most `patience.all` ms. */
const patient =
  (ask: Attest, clock: Clock) =>
  async (challenge: Uint8Array, name: string | undefined): Promise<Keyset> => {
    for (const until = clock.now() + patienceMs.all; ; await clock.sleep(patienceMs.step)) {
      try {
        return await ask(challenge, name)
      } catch (error) {
        // The enclave is busy with another gateway.
        if (!(error instanceof TooMany) || clock.now() >= until) throw error
      }
    }
  }

/**
 * Keeps one report in flight; challenges that arrive meanwhile share the next report. Evidence of other kinds is made
 * for each challenge.
 */
export const batchedAttest = (ask: Attest, clock: Clock): Attest => {
  const lines = new Map<string, Waiting[]>()
  const grouped = new Set<string>()

  const sure = patient(ask, clock)

  const answer = async (batch: readonly Waiting[], name: string | undefined): Promise<void> => {
    const [first] = batch
    if (first === undefined) return
    if (batch.length === 1) return first.tell(await sure(first.challenge, name))
    const { root, places } = challengeTree(batch.map(({ challenge }) => challenge))
    const keyset = await sure(root, name)
    if (!isGrouped(keyset)) {
      grouped.delete(name ?? '')
      await Promise.all(batch.map((waiting) => sure(waiting.challenge, name).then(waiting.tell, waiting.fail)))
      return
    }
    for (const [index, waiting] of batch.entries())
      waiting.tell({ ...keyset, evidence: { ...keyset.evidence, batch: places[index]! } })
  }

  const work = async (waiting: Waiting[], name: string | undefined): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, batchLimits.batch)
      await answer(batch, name).catch((error: unknown) => {
        for (const waiting of batch) waiting.fail(error)
      })
    }
    lines.delete(name ?? '')
  }

  return async (challenge, name) => {
    const line = name ?? ''
    if (!grouped.has(line)) {
      const keyset = await sure(challenge, name)
      if (isGrouped(keyset)) grouped.add(line)
      return keyset
    }
    return new Promise((resolve, reject) => {
      const challenged = { challenge, tell: resolve, fail: reject }
      const waiting = lines.get(line)
      if (waiting === undefined) {
        const first = [challenged]
        lines.set(line, first)
        void work(first, name)
      } else if (waiting.length >= batchLimits.waiting) reject(new TooMany('Too many questions wait for a report'))
      else waiting.push(challenged)
    })
  }
}
