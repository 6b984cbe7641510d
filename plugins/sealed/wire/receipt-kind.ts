/** The kind of a keyset entry for receipt keys. The entry holds the keys' hash. */
export const receiptKind = 0x5251
