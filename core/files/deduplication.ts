import type { Clock } from '../ports/platform.ts'
import { type MetadataStore, kind } from '../ports/metadata-store.ts'
import { type FileRow, type Owner, files } from './record.ts'

/** Who holds a content hash: a lease while its record is being written, final (null) with it. */
interface Claim {
  readonly file: string
  readonly until: number | null
}

const claims = kind<Claim>('claim')

/** Longer than writing a record ever takes. */
const lease = 15_000
const step = 25

const idOf = ({ organization, user }: Owner, hash: string): string => `${organization}/${user}/${hash}`

/** Sees to it that of equal files of one owner one alone is kept, also when they race. */
export const claiming = (rows: MetadataStore, clock: Clock) => {
  /** The file that holds the hash, once it is sure; null when nobody does. */
  const holder = async (owner: Owner, hash: string): Promise<{ id: string; row: FileRow } | null> => {
    const claim = await rows.get(claims, idOf(owner, hash))
    const row = claim && (await rows.get(files, claim.file))
    return claim && row ? { id: claim.file, row } : null
  }

  return {
    holder,

    /** Takes the hash for `file`, or tells who has it. */
    async take(owner: Owner, hash: string, file: string): Promise<{ id: string; row: FileRow } | null> {
      const id = idOf(owner, hash)
      for (;;) {
        const mine = { file, until: clock.now() + lease }
        if (await rows.create(claims, id, mine)) return null
        const found = await holder(owner, hash)
        if (found !== null) return found
        const claim = await rows.get(claims, id)
        if (claim === null) continue
        // Its record is gone, or never came.
        const over = claim.until === null || claim.until < clock.now()
        if (over && (await rows.update(claims, id, mine, { ...claim })) !== null) return null
        if (!over) await clock.sleep(step)
      }
    },

    settle: async (owner: Owner, hash: string, file: string): Promise<void> =>
      void (await rows.update(claims, idOf(owner, hash), { until: null }, { file })),

    release: async (owner: Owner, hash: string, file: string): Promise<void> =>
      void (await rows.remove(claims, idOf(owner, hash), { file })),

    /** Removes the claims of files that are gone. */
    async sweep(): Promise<void> {
      for (let offset = 0; ;) {
        const { rows: page } = await rows.list(claims, { limit: 500, offset })
        if (page.length === 0) return
        for (const { id, row } of page) {
          const over = row.until === null || row.until < clock.now()
          const gone = over && (await rows.get(files, row.file)) === null && (await rows.remove(claims, id, { ...row }))
          if (!gone) offset++
        }
      }
    },
  }
}
