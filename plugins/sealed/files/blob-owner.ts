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

/** The blobs belong to another row store, which has left this mark; null where nothing but the blobs tells so. */
export class OtherRows extends Error {
  readonly mark: string | null

  constructor(mark: string | null) {
    super(
      'Nothing without a record is removed: the sealed files belong to another row store, beside which each of them ' +
        'is an orphan. Do storage.metadata and SEALGATE_DATA name the row store of these files?' +
        (mark === null ? '' : ` If they do, remove ${mark} from the blob store.`),
    )
    this.mark = mark
  }
}

/**
 * Refuses to sweep blobs whose records stand in another row store, beside which each file would be an orphan. Each row
 * store with a record of a file leaves a mark among the blobs. Where two have left one, neither sweeps.
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
    /** Throws where the blobs are not, or not alone, those of this row store. */
    async prove(): Promise<void> {
      const own = await ownMark()
      const marks: string[] = []
      for await (const path of blobs.list(prefix)) marks.push(path)
      const other = marks.find((mark) => mark !== own)
      if (!marks.includes(own)) {
        if (await hasRecords()) await blobs.put(own, noted())
        else if (other !== undefined || (await hasFiles())) throw new OtherRows(other ?? null)
      }
      if (other !== undefined) throw new OtherRows(other)
    },
  }
}
