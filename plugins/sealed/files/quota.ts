import { BadRequest } from '../../../core/errors.ts'
import { type MetadataStore, kind } from '../../../core/ports/metadata-store.ts'
import type { Settings } from '../../../core/settings.ts'
import { everyRow, files } from './record.ts'
import { fileSettings } from './settings.ts'

/** Sealed bytes and their files. */
export interface Stored {
  readonly bytes: number
  readonly files: number
}

const stored = kind<Stored>('stored')

/** In bytes and files; an absent limit does not limit. */
export type Quota = ReturnType<typeof fileSettings.of>['quota']

/** The storage limits of an organisation. */
export const quotaOf = (organization: string, settings: Settings): Quota => {
  const { organizations } = settings
  const { quota } = fileSettings.of(settings)
  return Object.hasOwn(organizations, organization) ? { ...quota, ...organizations[organization]?.quota } : quota
}

/** Names the limit that was reached, which the caller may know. */
const overQuota = (quota: string): BadRequest =>
  new BadRequest('The storage of the organisation is used up', {
    code: 'over_quota',
    validator: { quota },
    told: `it has ${quota}`,
  })

/** The stored bytes and files of each organisation. */
export const storage = (rows: MetadataStore) => {
  const add = (organization: string, bytes: number, count: number) =>
    rows.add(stored, organization, { bytes, files: count })

  return {
    /** Zeros for an organisation that stores nothing yet. */
    of: async (organization: string): Promise<Stored> =>
      (await rows.get(stored, organization)) ?? { bytes: 0, files: 0 },

    /** Counts a new file. Throws when the file exceeds the quota; the file is not counted then. */
    async enter(organization: string, bytes: number, quota: Quota): Promise<void> {
      const now = (await add(organization, bytes, 1))!
      const over = (['bytes', 'files'] as const).find((unit) => (now[unit] ?? 0) > (quota[unit] ?? Infinity))
      if (over === undefined) return
      await add(organization, -bytes, -1)
      throw overQuota(`${quota[over]} ${over}`)
    },

    /** Counts a removed file. */
    leave: async (organization: string, bytes: number): Promise<void> => void (await add(organization, -bytes, -1)),

    /** Corrects the counts: a process that dies between a count and its record leaves a difference. */
    async recount(): Promise<void> {
      const before = new Map((await rows.list(stored, {})).rows.map(({ id, row }) => [id, row]))
      const sums = new Map<string, { bytes: number; files: number }>()
      for await (const { row } of everyRow(rows, files)) {
        const sum = sums.get(row.organization) ?? { bytes: 0, files: 0 }
        sums.set(row.organization, { bytes: sum.bytes + row.file_size, files: sum.files + 1 })
      }
      for (const organization of new Set([...before.keys(), ...sums.keys()])) {
        const was = before.get(organization) ?? { bytes: 0, files: 0 }
        const is = sums.get(organization) ?? { bytes: 0, files: 0 }
        const unchanged = (await rows.get(stored, organization)) ?? { bytes: 0, files: 0 }
        // A count that changes during the recount is corrected by a later recount.
        if (unchanged.bytes !== was.bytes || unchanged.files !== was.files) continue
        if (is.bytes !== was.bytes || is.files !== was.files)
          await add(organization, is.bytes - was.bytes, is.files - was.files)
      }
    },
  }
}
