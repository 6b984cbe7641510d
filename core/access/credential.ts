import { hash } from 'node:crypto'
import type { Random } from '../ports/platform.ts'

/** Keys for tests open nothing in production unless the setting `testKeys` says so. */
export type Mode = 'live' | 'test'

/** The alphabet of Bitcoin: base 58 leaves out 0, O, I and l, which people confuse. */
const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

const base58 = (bytes: Uint8Array): string => {
  let number = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  let text = ''
  while (number > 0n) {
    text = alphabet[Number(number % 58n)] + text
    number /= 58n
  }
  return text.padStart(44, alphabet[0])
}

/** 32 random bytes behind a prefix that secret scanners know. No key has a kind that is no mode. */
export const newCredential = (kind: string, random: Random): string => `sk_${kind}_${base58(random.bytes(32))}`

/** New keys have 44 characters of base58. The bounds are wider for keys that an operator brings. */
const shape = /^sk_(live|test)_[1-9A-HJ-NP-Za-km-z]{40,48}$/

/** Null for anything that is not a key at all. */
export const modeOf = (credential: string): Mode | null => (shape.exec(credential)?.[1] as Mode | undefined) ?? null

/** What is stored and looked up instead of the key: the hash of all of it, prefix included. */
export const credentialHash = (credential: string): string => hash('sha256', credential, 'hex')
