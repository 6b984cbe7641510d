import { createHash } from 'node:crypto'
import { TooMany } from '../../../core/errors.ts'
import type { Keyset } from '../../../core/ports/enclave.ts'
import type { Clock } from '../../../core/ports/platform.ts'

/** Evidence over the keys and 32 bytes chosen by the asker. */
export type Attest = (challenge: Uint8Array, name?: string) => Promise<Keyset>

/** The largest number of challenges in one report, and of waiting challenges. */
const batchLimits = { batch: 1024, waiting: 8192 }
/** In ms: how long a busy enclave is asked again, and the pause between two tries. */
const patienceMs = { all: 10_000, step: 50 }

const sha256 = (...parts: readonly (Uint8Array | string)[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** The leading 0 sets leaves apart from inner nodes, which begin with 1: neither can pass for the other. */
const leafOf = (challenge: Uint8Array): Buffer => sha256(Uint8Array.of(0), 'rvenc-challenge/1\0', challenge)

/** The root over these challenges, and the path of each challenge to the root. */
export const treeOf = (challenges: readonly Uint8Array[]) => {
  let level: readonly Buffer[] = challenges.map(leafOf)
  const paths: string[][] = challenges.map(() => [])
  for (let depth = 0; level.length > 1; depth++) {
    const below = level
    for (const [at, path] of paths.entries()) {
      const beside = below[(at >> depth) ^ 1]
      if (beside !== undefined) path.push(beside.toString('hex'))
    }
    level = Array.from({ length: Math.ceil(below.length / 2) }, (_, at) => {
      const [left, right] = [below[2 * at]!, below[2 * at + 1]]
      // The last node of an odd level has no neighbour and moves up unchanged.
      return right === undefined ? left : sha256(Uint8Array.of(1), left, right)
    })
  }
  return { root: new Uint8Array(level[0]!), paths }
}

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
    const { root, paths } = treeOf(batch.map(({ challenge }) => challenge))
    const keyset = await sure(root, name)
    if (!isGrouped(keyset)) {
      grouped.delete(name ?? '')
      await Promise.all(batch.map((waiting) => sure(waiting.challenge, name).then(waiting.tell, waiting.fail)))
      return
    }
    for (const [index, waiting] of batch.entries())
      waiting.tell({
        ...keyset,
        evidence: { ...keyset.evidence, batch: { index, size: batch.length, path: paths[index]! } },
      })
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
