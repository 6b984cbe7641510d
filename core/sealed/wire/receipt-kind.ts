/** The kind under which a keyset names keys that sign receipts: what stands there is their hash. */
export const receiptKind = 0x5251
