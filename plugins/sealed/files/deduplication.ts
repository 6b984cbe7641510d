import type { Clock } from '../../../core/ports/platform.ts'
import { type MetadataStore, kind } from '../../../core/ports/metadata-store.ts'
import { type FileRow, type Owner, everyRow, files } from './record.ts'

/** The file that owns a content hash: a lease while the record is written, and final (null) afterwards. */
interface Claim {
  readonly file: string
  readonly until: number | null
}

const claims = kind<Claim>('claim')

/** In ms: longer than writing a record ever takes. */
const lease = 15_000
/** In ms: the pause between two looks at another upload's claim. */
const step = 25

/** One owner's hashes: equal files of two owners stay two files. */
const idOf = ({ organization, user }: Owner, hash: string): string => `${organization}/${user}/${hash}`

/** Keeps only one of an owner's equal files, also when uploads race. */
export const deduplicating = (rows: MetadataStore, clock: Clock) => {
  /** The file with a final claim to the hash; null when there is none. */
  const holder = async (owner: Owner, hash: string): Promise<{ id: string; row: FileRow } | null> => {
    const claim = await rows.get(claims, idOf(owner, hash))
    const row = claim && (await rows.get(files, claim.file))
    // An upload that lost its id to another one leaves a claim on that other file.
    return claim && row?.client_hash === hash ? { id: claim.file, row } : null
  }

  return {
    holder,

    /** Claims the hash for `file`, or returns the file that owns it. A claim of a fast clock is over after a lease, too. */
    async take(owner: Owner, hash: string, file: string): Promise<{ id: string; row: FileRow } | null> {
      const id = idOf(owner, hash)
      const latest = clock.now() + lease
      for (;;) {
        const mine = { file, until: clock.now() + lease }
        if (await rows.create(claims, id, mine)) return null
        const found = await holder(owner, hash)
        if (found !== null) return found
        const claim = await rows.get(claims, id)
        if (claim === null) continue
        // The record of the claim is gone or was never written.
        const over = claim.until === null || Math.min(claim.until, latest) < clock.now()
        if (over && (await rows.update(claims, id, mine, { ...claim })) !== null) return null
        if (!over) await clock.sleep(step)
      }
    },

    /** Makes the claim final, once the record is written. Does nothing when another file holds the claim. */
    settle: async (owner: Owner, hash: string, file: string): Promise<void> =>
      void (await rows.update(claims, idOf(owner, hash), { until: null }, { file })),

    /** Gives the hash free. Does nothing when another file holds the claim. */
    release: async (owner: Owner, hash: string, file: string): Promise<void> =>
      void (await rows.remove(claims, idOf(owner, hash), { file })),

    /** Removes the claims of removed files. */
    async sweep(): Promise<void> {
      for await (const { id, row } of everyRow(rows, claims)) {
        const over = row.until === null || row.until < clock.now()
        if (over && (await rows.get(files, row.file)) === null) await rows.remove(claims, id, { ...row })
      }
    },
  }
}
