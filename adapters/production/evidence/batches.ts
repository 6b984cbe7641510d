import { createHash } from 'node:crypto'
import { TooMany } from '../../../core/errors.ts'
import type { Keyset } from '../../../core/ports/enclave.ts'
import type { Clock } from '../../../core/ports/platform.ts'

/** Evidence over the keys and 32 bytes of the asker's own. */
export type Attest = (challenge: Uint8Array, name?: string) => Promise<Keyset>

/** Challenges that one report answers, and those that wait at most. */
const most = { batch: 1024, waiting: 8192 }
/** Ms for which an enclave that is busy is asked again, and between two tries. */
const patience = { all: 10_000, step: 50 }

const sha256 = (...parts: readonly (Uint8Array | string)[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

const leafOf = (challenge: Uint8Array): Buffer => sha256(Uint8Array.of(0), 'rvenc-challenge/1\0', challenge)

/** The root over these challenges, and the path of each of them up to it. */
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
      // The odd one at the end has no neighbour and moves up as it is.
      return right === undefined ? left : sha256(Uint8Array.of(1), left, right)
    })
  }
  return { root: new Uint8Array(level[0]!), paths }
}

interface Waiting {
  readonly challenge: Uint8Array
  tell(keyset: Keyset): void
  fail(error: unknown): void
}

/** Of kinds whose verifiers know batches. */
const isGrouped = ({ evidence: { type } }: Keyset): boolean => ['sev-snp', 'tdx', 'nitro'].includes(type)

/** One report in flight; all challenges that come meanwhile share the next one. Evidence of other kinds is made for each. */
export const batching = (ask: Attest, clock: Clock): Attest => {
  const lines = new Map<string, Waiting[]>()
  const grouped = new Set<string>()

  const sure = async (challenge: Uint8Array, name: string | undefined): Promise<Keyset> => {
    for (const until = clock.now() + patience.all; ; await clock.sleep(patience.step)) {
      try {
        return await ask(challenge, name)
      } catch (error) {
        // Another gateway asks the same enclave.
        if (!(error instanceof TooMany) || clock.now() >= until) throw error
      }
    }
  }

  const answer = async (batch: readonly Waiting[], name: string | undefined): Promise<void> => {
    const [first] = batch
    if (first === undefined) return
    if (batch.length === 1) return first.tell(await sure(first.challenge, name))
    const { root, paths } = treeOf(batch.map(({ challenge }) => challenge))
    const keyset = await sure(root, name)
    if (!isGrouped(keyset)) {
      grouped.delete(name ?? '')
      await Promise.all(batch.map((it) => sure(it.challenge, name).then(it.tell, it.fail)))
      return
    }
    for (const [index, it] of batch.entries())
      it.tell({
        ...keyset,
        evidence: { ...keyset.evidence, batch: { index, size: batch.length, path: paths[index]! } },
      })
  }

  const work = async (waiting: Waiting[], name: string | undefined): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, most.batch)
      await answer(batch, name).catch((error: unknown) => {
        for (const it of batch) it.fail(error)
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
      const it = { challenge, tell: resolve, fail: reject }
      const waiting = lines.get(line)
      if (waiting === undefined) {
        const first = [it]
        lines.set(line, first)
        void work(first, name)
      } else if (waiting.length >= most.waiting) reject(new TooMany('Too many questions wait for a report'))
      else waiting.push(it)
    })
  }
}
