import { leafOf } from './tree.ts'

/** A receipt's own leaf becomes the leaf of the log, under a label of the log. */
export const logLeaf = (receiptLeaf: Uint8Array): Uint8Array => leafOf('rvenc-log/1\0', receiptLeaf)
