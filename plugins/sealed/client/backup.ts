import { argon2idAsync } from '@noble/hashes/argon2.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { randomBytes } from '@noble/hashes/utils.js'
import { concat, textOf, utf8, fromHex, toHex } from '../wire/bytes.ts'
import { freshNonce, openWith, sealWith } from '../wire/seal.ts'
import { SealgateError } from './error.ts'

/** The keys that a client must keep. Together with the records they open every file. */
export interface KeyRing {
  /** 64 hex characters. */
  readonly kek: string
  /** The retrieval key, wrapped with the KEK; null when the client has none. */
  readonly wrappedRagDek: string | null
}

/** Argon2id: 64 MiB, three passes, one lane. */
const cost = { m: 64 * 1024, t: 3, p: 1 } as const
const magic = 'sealgate-backup/1'

/** NFC, since keyboards give one letter in several forms. */
const keyOf = (passphrase: string, salt: Uint8Array, m: number, t: number): Promise<Uint8Array> =>
  argon2idAsync(utf8(passphrase.normalize('NFC')), salt, { m, t, p: cost.p, dkLen: 32 })

/** Encrypts the keys with a passphrase. The text is safe anywhere but beside the passphrase. */
export const backup = async (ring: KeyRing, passphrase: string): Promise<string> => {
  const salt = randomBytes(16)
  const key = await keyOf(passphrase, salt, cost.m, cost.t)
  const sealed = sealWith(key, freshNonce(), utf8(JSON.stringify(ring)), utf8(magic))
  return JSON.stringify({ backup: magic, m: cost.m, t: cost.t, salt: toHex(salt), sealed: toHex(sealed) })
}

/** Throws the same error for a wrong passphrase and for a changed backup. */
export const restore = async (text: string, passphrase: string): Promise<KeyRing> => {
  const { backup, m, t, salt, sealed } = parsed(text)
  const bytes = [
    typeof salt === 'string' ? fromHex(salt, 64) : null,
    typeof sealed === 'string' ? fromHex(sealed, 4096) : null,
  ]
  const [saltBytes, sealedBytes] = bytes
  // The cost is bounded, because a backup may come from a stranger.
  const sane = typeof m === 'number' && typeof t === 'number' && m >= 8 && m <= 1024 * 1024 && t >= 1 && t <= 16
  if (backup !== magic || !saltBytes || !sealedBytes || !sane) throw new SealgateError('no_backup')
  const plain = openWith(await keyOf(passphrase, saltBytes, m, t), sealedBytes, utf8(magic))
  if (plain === null) throw new SealgateError('wrong_passphrase')
  return JSON.parse(textOf(plain)) as KeyRing
}

/** Throws `no_backup` for any text that is no JSON object. */
const parsed = (text: string): Record<string, unknown> => {
  try {
    const json = JSON.parse(text) as unknown
    if (typeof json === 'object' && json !== null) return json as Record<string, unknown>
  } catch {
    // Text that is not JSON is refused as well.
  }
  throw new SealgateError('no_backup')
}

/** The alphabet has no letter that looks like a digit. */
const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** In bytes: a mistyped code passes once in 65,536 times. */
const checkLength = 2

/** The KEK for paper: 55 letters in groups of five. The last group is a checksum. */
export const recoveryCode = (kek: string): string => {
  const bytes = fromHex(kek, 32)
  if (bytes?.length !== 32) throw new SealgateError('no_kek')
  let bits = ''
  for (const byte of concat(bytes, checksum(bytes))) bits += byte.toString(2).padStart(8, '0')
  const code = (bits.padEnd(275, '0').match(/.{5}/g) ?? []).map((five) => letters[parseInt(five, 2)]).join('')
  return (code.match(/.{5}/g) ?? []).join('-')
}

/** Ignores case, blanks and dashes. Throws when a letter is wrong. */
export const fromRecoveryCode = (code: string): string => {
  const typed = code.toUpperCase().replace(/[\s-]/g, '').replace(/O/g, '0').replace(/[IL]/g, '1')
  let bits = ''
  for (const letter of typed) {
    const value = letters.indexOf(letter)
    if (value < 0) throw new SealgateError('wrong_code')
    bits += value.toString(2).padStart(5, '0')
  }
  if (typed.length !== 55) throw new SealgateError('wrong_code')
  const bytes = Uint8Array.from({ length: 32 + checkLength }, (_, at) => parseInt(bits.slice(at * 8, at * 8 + 8), 2))
  const kek = bytes.subarray(0, 32)
  if (toHex(checksum(kek)) !== toHex(bytes.subarray(32))) throw new SealgateError('wrong_code')
  return toHex(kek)
}

const checksum = (kek: Uint8Array): Uint8Array => sha256(concat(utf8('rvenc/recovery'), kek)).subarray(0, checkLength)
