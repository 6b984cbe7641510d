import { type Binding, isBoundKey } from '../wire/binding.ts'
import { SealgateError } from './error.ts'
import type { FileRecord } from './file-shapes.ts'
import type { Keys } from './keys.ts'
import type { Memory } from './memory.ts'

/** A record that holds, as far as this client can know. */
export interface Checked {
  readonly record: FileRecord
  /** The key of the content, from the record and the KEK alone. */
  readonly dek: Uint8Array
  /** What the owner vouches for; null for a file that is not bound. */
  readonly proof: Binding | null
}

export interface Checks {
  /** Throws for a record that is not this client's own, is not bound where it must be, or is older than remembered. */
  check(record: FileRecord): Promise<Checked>
  /** The same for many records: each with what check would throw. */
  checkAll(records: readonly FileRecord[]): Promise<readonly (Checked | SealgateError)[]>
}

export const checking = (keys: Keys, memory: Memory, requireBound: boolean): Checks => {
  const held = (record: FileRecord): Checked => {
    const dek = keys.unwrap(record.wrapped_dek, record.kid)
    const proof = record.binding == null ? null : keys.proofOf(record, record.binding)
    // Id and key each say that their file is bound: the id while its KEK lasts, the key for good.
    if (proof === null && (record.binding != null || keys.isMarked(record.id) || isBoundKey(dek)))
      throw new SealgateError('damaged')
    if (proof === null && requireBound) throw new SealgateError('unbound')
    return { record, dek, proof }
  }

  const orFault = (record: FileRecord): Checked | SealgateError => {
    try {
      return held(record)
    } catch (error) {
      if (error instanceof SealgateError && error.fault !== 'no_kek') return error
      throw error
    }
  }

  const checkAll: Checks['checkAll'] = async (records) => {
    const all = records.map(orFault)
    const seen = all.flatMap((it) =>
      it instanceof SealgateError ? [] : [{ id: it.record.id, revision: it.proof?.revision ?? 0 }],
    )
    const old = await memory.meet(seen)
    return all.map((it) =>
      !(it instanceof SealgateError) && old.has(it.record.id) ? new SealgateError('rolled_back') : it,
    )
  }

  return {
    checkAll,
    async check(record) {
      const [it] = await checkAll([record])
      if (it === undefined) throw new SealgateError('damaged')
      if (it instanceof SealgateError) throw it
      return it
    },
  }
}
