/** The GUIDs of certificates between AMD's guest and host, with bytes in text order. */
const names = new Map<string, 'vek' | 'ica' | 'ark'>([
  ['63da758de6644564adc5f4b93be8accd', 'vek'],
  ['a8074bc2a25a483eaae639c045a0b8a1', 'vek'],
  ['4ab7b379bbac4fe4a02f05aef327c782', 'ica'],
  ['c0b406a4a803495297433fb6014cd0ae', 'ark'],
])

/** Bytes: a GUID of 16, then offset and length with 4 each, little-endian. */
const entrySize = 24
const mostEntries = 32
/** Bytes of one certificate. */
const mostBytes = 4096

/**
 * The certificates that the host put beside a report, in hex. Entries outside the blob or too long for a certificate
 * are skipped.
 */
export const splitAuxblob = (blob: Buffer): Readonly<Partial<Record<'vek' | 'ica' | 'ark', string>>> => {
  const found: Partial<Record<'vek' | 'ica' | 'ark', string>> = {}
  for (let at = 0, left = mostEntries; left > 0 && at + entrySize <= blob.length; at += entrySize, left--) {
    const guid = blob.toString('hex', at, at + 16)
    if (/^0+$/.test(guid)) break
    const name = names.get(guid)
    const [offset, length] = [blob.readUInt32LE(at + 16), blob.readUInt32LE(at + 20)]
    if (name === undefined || length === 0 || length > mostBytes || offset + length > blob.length) continue
    found[name] ??= blob.toString('hex', offset, offset + length)
  }
  return found
}
