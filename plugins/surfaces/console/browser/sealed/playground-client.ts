import { type Client, connect, newKek } from '../../../../sealed/client/client.ts'
import type { Policy } from '../../../../sealed/client/verify.ts'
import type { Gateway } from '../gateway.ts'

export interface Playing {
  readonly gateway: Gateway
  readonly policy: Policy
  readonly fetch: typeof fetch
}

/** The reader's key goes in the place of this word, and stays with the console. */
const apiKey = 'the key of the reader'

/**
 * The sealed client of this tab. Its key-encryption key is made here and ends with the tab: a page takes no other one,
 * because the server of a page decides what the page does.
 */
export const playgroundClient = ({ gateway, policy, fetch, ...more }: Playing): Client => {
  if (Object.keys(more).length > 0) throw new TypeError('A page takes no key of its reader')
  return connect({ baseUrl: gateway.base, apiKey, policy, fetch, kek: newKek() })
}

/** A key-encryption key, a file of them, or a recovery code for paper. */
const kekShape =
  /^\s*(?:[0-9a-f]{64}|(?:[0-9A-HJKMNP-TV-Z]{5}-){10}[0-9A-HJKMNP-TV-Z]{5})\s*$|"kek"\s*:\s*"[0-9a-f]{64}"/i

/** Whether a text holds a key that no page may be given. */
export const holdsKek = (text: string): boolean => kekShape.test(text)
