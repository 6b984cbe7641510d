import { isOwnToken } from './own-machine.ts'

const slot = 'sealgate.console.key'

/** The shape of every key, so that nothing else is ever sent as one. */
const keyShape = /^sk_(?:live|test)_[1-9A-HJ-NP-Za-km-z]{40,48}$/
/** Of what a link or a login gives. */
const lentShape = /^(?:sk_console_[1-9A-HJ-NP-Za-km-z]{40,48}|[\w-]+\.[\w-]+\.[\w-]+)$/

/** What the reader is signed in with. */
export interface Pass {
  /** A key, the credential behind a link, or an access token. */
  readonly credential: string
  /** Unix time in ms at which it ends; null where the tab does not know. */
  readonly until: number | null
}

/** The reader's credential: in the memory of this tab, and in its session storage only where the reader asks for that. */
export interface Session {
  pass(): Pass | null
  open(pass: Pass, keep: boolean): void
  close(): void
}

export const isKey = (text: string): boolean => keyShape.test(text) || isOwnToken(text)

/** Whether a link gave the credential, so that signing out ends it at the gateway too. */
export const isOfLink = ({ credential }: Pass): boolean => credential.startsWith('sk_console_')

export const sessionOf = (storage: Storage): Session => {
  const kept = storage.getItem(slot)
  let pass: Pass | null =
    kept !== null && (isKey(kept) || lentShape.test(kept)) ? { credential: kept, until: null } : null
  return {
    pass: () => pass,
    open(given, keep) {
      pass = given
      if (keep) storage.setItem(slot, given.credential)
      else storage.removeItem(slot)
    },
    close() {
      pass = null
      storage.removeItem(slot)
    },
  }
}
