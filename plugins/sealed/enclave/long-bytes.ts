import { type CipherGCM, createHash } from 'node:crypto'
import { freeTurn } from '../../../core/dialects/loop-time.ts'
import { bufferOf } from '../../shared/backend.ts'
import { decipherOf, tagLength } from '../wire/aead.node.ts'

/** Bytes from which on a text is sealed, opened and hashed in turns of the loop. */
export const longBytes = 256 * 1024

async function* slicesOf(bytes: Uint8Array): AsyncGenerator<readonly [at: number, part: Uint8Array]> {
  for (let at = 0; at < bytes.length; at += longBytes) {
    if (at > 0) await freeTurn()
    yield [at, bytes.subarray(at, at + longBytes)]
  }
}

/** Node's own digits cost a tenth of those that browsers can make, too. */
export const hexOf = (bytes: Uint8Array): string => bufferOf(bytes).toString('hex')

/** The sealed bytes of pieces behind one another. Spaces behind them fill the last bucket. */
export const sealInTurns = async (
  cipher: Pick<CipherGCM, 'update' | 'final' | 'getAuthTag'>,
  pieces: readonly Uint8Array[],
  bucket: number,
): Promise<Uint8Array> => {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const padded = Math.ceil(length / bucket) * bucket
  const sealed = new Uint8Array(padded + tagLength)
  let at = 0
  for (const piece of [...pieces, new Uint8Array(padded - length).fill(0x20)]) {
    for await (const [, part] of slicesOf(piece)) {
      sealed.set(cipher.update(part), at)
      at += part.length
    }
  }
  cipher.final()
  sealed.set(cipher.getAuthTag(), padded)
  return sealed
}

/** Null when the bytes do not open, as from `open`. */
export const openInTurns = async (
  key: Uint8Array,
  nonce: Uint8Array,
  sealed: Uint8Array,
): Promise<Uint8Array | null> => {
  const decipher = decipherOf(key, nonce, sealed)
  const plain = new Uint8Array(sealed.length - tagLength)
  for await (const [at, part] of slicesOf(sealed.subarray(0, plain.length))) plain.set(decipher.update(part), at)
  try {
    decipher.final()
    return plain
  } catch {
    return null
  }
}

/** The SHA-256 of pieces behind one another. */
export const digestInTurns = async (pieces: Iterable<Uint8Array>): Promise<Uint8Array> => {
  const hash = createHash('sha256')
  for (const piece of pieces) for await (const [, part] of slicesOf(piece)) hash.update(part)
  return hash.digest()
}
