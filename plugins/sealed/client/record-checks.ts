import { type Binding, isBoundKey } from '../wire/binding.ts'
import { SealgateError } from './error.ts'
import type { FileRecord } from './file-shapes.ts'
import type { Keys } from './keys.ts'
import type { FileMemory } from './memory.ts'
import type { ClearRequests } from './http-request.ts'

/** A record that passed every check of this client. */
export interface CheckedRecord {
  readonly record: FileRecord
  /** The key of the content, derived from the record and the KEK only. */
  readonly dek: Uint8Array
  /** The facts that the owner vouches for; null when the file is not bound. */
  readonly proof: Binding | null
}

/** What the client demands of a record before it uses anything in it. */
export interface RecordChecks {
  /** Throws for a record of another client, unbound where it must be bound, or older than remembered. */
  check(record: FileRecord): Promise<CheckedRecord>
  /** Checks many records. Each result is a checked record, or the error that `check` throws. */
  checkAll(records: readonly FileRecord[]): Promise<readonly (CheckedRecord | SealgateError)[]>
}

/** `requireBound` refuses files of literal and older clients. */
export const recordChecks = (keys: Keys, memory: FileMemory, requireBound: boolean): RecordChecks => {
  /** Throws `wrong_key`, `damaged` or `unbound`. */
  const held = (record: FileRecord): CheckedRecord => {
    const dek = keys.unwrap(record.wrapped_dek, record.kid)
    const proof = record.binding == null ? null : keys.proofOf(record, record.binding)
    // The id and the key each mark a bound file: the id as long as the KEK lives, the key forever.
    if (proof === null && (record.binding != null || keys.isMarked(record.id) || isBoundKey(dek)))
      throw new SealgateError('damaged')
    if (proof === null && requireBound) throw new SealgateError('unbound')
    return { record, dek, proof }
  }

  /** A missing KEK concerns all records alike, so it is thrown. */
  const orFault = (record: FileRecord): CheckedRecord | SealgateError => {
    try {
      return held(record)
    } catch (error) {
      if (error instanceof SealgateError && error.fault !== 'no_kek') return error
      throw error
    }
  }

  const checkAll: RecordChecks['checkAll'] = async (records) => {
    const all = records.map(orFault)
    const seen = all.flatMap((outcome) =>
      outcome instanceof SealgateError ? [] : [{ id: outcome.record.id, revision: outcome.proof?.revision ?? 0 }],
    )
    const old = await memory.meet(seen)
    return all.map((outcome) =>
      !(outcome instanceof SealgateError) && old.has(outcome.record.id) ? new SealgateError('rolled_back') : outcome,
    )
  }

  return {
    checkAll,
    async check(record) {
      const [outcome] = await checkAll([record])
      if (outcome === undefined) throw new SealgateError('damaged')
      if (outcome instanceof SealgateError) throw outcome
      return outcome
    },
  }
}

/** The parts that all work with files uses. */
export interface FileContext {
  readonly ask: ClearRequests
  readonly keys: Keys
  readonly memory: FileMemory
  readonly checks: RecordChecks
}
