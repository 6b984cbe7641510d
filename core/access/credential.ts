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

/** A new credential of a console's session: no key begins like it. */
export const newSessionCredential = (random: Random): string => `${sessionPrefix}${base58(random.bytes(32))}`

const sessionPrefix = 'sk_console_'

/** Whether the text looks like a session of the console. Nothing is looked up for the answer. */
export const isSessionCredential = (credential: string): boolean => credential.startsWith(sessionPrefix)

/** A new key: 32 random bytes behind a prefix that secret scanners know. */
export const newCredential = (mode: Mode, random: Random): string => `sk_${mode}_${base58(random.bytes(32))}`

/** New keys have 44 characters of base58. The bounds are wider for keys that an operator brings. */
const shape = /^sk_(live|test)_[1-9A-HJ-NP-Za-km-z]{40,48}$/

/** Null for anything that is not a key at all. */
export const modeOf = (credential: string): Mode | null => (shape.exec(credential)?.[1] as Mode | undefined) ?? null

/** What is stored and looked up instead of the key: the hash of all of it, prefix included. */
export const credentialHash = (credential: string): string => hash('sha256', credential, 'hex')
