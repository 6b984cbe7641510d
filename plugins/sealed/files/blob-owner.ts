import type { BlobStore } from '../../../core/ports/blob-store.ts'
import type { Clock, Random } from '../../../core/ports/platform.ts'
import { type MetadataStore, kind } from '../../../core/ports/metadata-store.ts'
import { uuid7 } from '../../../core/uuid7.ts'
import { belonging, files } from './record.ts'

/** The name that one row store has in the blob store whose records it holds. */
const owners = kind<{ readonly name: string }>('blob_owner')
const only = 'files'
const prefix = 'owner/'

const note = Buffer.from('The sealed files of this blob store have their records in the row store of this name.\n')

/** The only piece of a mark. */
async function* noted() {
  yield note
}

/**
 * Beside another row store each file of the blobs would be an orphan. So each row store with a record of a file leaves a
 * mark among the blobs. Where two have left one, neither sweeps.
 */
export const blobOwner = (blobs: BlobStore, rows: MetadataStore, clock: Clock, random: Random) => {
  /** All processes of a gateway agree on one name. */
  const ownMark = async (): Promise<string> => {
    await rows.create(owners, only, { name: uuid7(clock, random) })
    return `${prefix}${(await rows.get(owners, only))!.name}`
  }

  const hasRecords = async (): Promise<boolean> => (await rows.list(files, { limit: 1, countTo: 1 })).rows.length > 0

  const hasFiles = async (): Promise<boolean> => {
    for await (const path of blobs.list('encrypted/')) if (belonging(path) !== null) return true
    return false
  }

  return {
    /** Null where the blobs are those of this row store alone; else the mark of another one, as far as it has left one. */
    async other(): Promise<{ readonly mark: string | null } | null> {
      const own = await ownMark()
      const marks: string[] = []
      for await (const path of blobs.list(prefix)) marks.push(path)
      const other = marks.find((mark) => mark !== own)
      const isKnown = marks.includes(own) || (await hasRecords())
      if (isKnown && !marks.includes(own)) await blobs.put(own, noted())
      if (other !== undefined) return { mark: other }
      return isKnown || !(await hasFiles()) ? null : { mark: null }
    },
  }
}
