import type { BlobStore } from '../../../core/ports/blob-store.ts'
import { type FileRow, indexPrefixOf } from './record.ts'

/**
 * Removes the index of a file, and what an indexing under way has stored until now. Such an indexing removes by itself what
 * it stores later.
 */
export const removeIndexBytes = async (blobs: BlobStore, row: FileRow): Promise<void> => {
  if (row.rag_path !== null) await blobs.remove(row.rag_path)
  if (row.rag_until === null) return
  for await (const path of blobs.list(indexPrefixOf(row))) await blobs.remove(path)
}
