import type { Flaw } from '../../core/errors.ts'
import { isZip, unzip } from './zip.ts'

/** The reason why a file is unreadable; null when it is unknown. */
export const flawOf = async (bytes: Uint8Array): Promise<Flaw | null> => {
  // A parser that moves the memory of a file to itself leaves no bytes behind.
  if (bytes.length < 8) return null
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (isCompound(file)) {
    if (file.includes(wide('EncryptedPackage'))) return 'password'
    return file.includes(wide('WordDocument')) || file.includes(wide('PowerPoint Document')) ? 'format' : null
  }
  return isZip(file) && (await isSealed(file)) ? 'password' : null
}

/** The container of old binary formats, and of new formats with a password. */
export const isCompound = (bytes: Uint8Array): boolean =>
  [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1].every((byte, at) => bytes[at] === byte)

/** Compound files name their streams in UTF-16. */
const wide = (name: string): Buffer => Buffer.from(name, 'utf16le')

const manifest = 'META-INF/manifest.xml'

/** True for an encrypted archive, or an OpenDocument file with encrypted parts. */
const isSealed = async (file: Buffer): Promise<boolean> => {
  if (file.readUInt16LE(6) & 1) return true
  const parts = await unzip(file, (name) => name === manifest, { bytes: 4_000_000 }).catch(() => null)
  return Buffer.from(parts?.get(manifest) ?? []).includes('encryption-data')
}
