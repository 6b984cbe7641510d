import { isOwnToken } from './own-machine.ts'

const slot = 'sealgate.console.key'

/** The shape of every key, so that nothing else is ever sent as one. */
const keyShape = /^sk_(?:live|test)_[1-9A-HJ-NP-Za-km-z]{40,48}$/
/** Of what a login gives. */
const tokenShape = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** What the reader is signed in with. */
export interface Pass {
  /** A key, the credential of a session, or an access token. */
  readonly credential: string
  /** Unix time in ms at which it ends; null where the tab does not know. */
  readonly until: number | null
  /** The last letters of the key behind a session; absent where the tab does not know them. */
  readonly hint?: string
}

/**
 * The reader's credential, in the memory of this tab. A token of a login or of the reader's own machine stands in its
 * session storage too where the reader asks for that.
 */
export interface Session {
  pass(): Pass | null
  open(pass: Pass, keep: boolean): void
  close(): void
}

export const isKey = (text: string): boolean => keyShape.test(text)

/** Whether the gateway holds a session for it, which signing out ends. */
export const isSession = ({ credential }: Pass): boolean => credential.startsWith('sk_console_')

export const sessionOf = (storage: Storage): Session => {
  const kept = storage.getItem(slot)
  const mayStay = (text: string): boolean => isOwnToken(text) || tokenShape.test(text)
  let pass: Pass | null = kept !== null && mayStay(kept) ? { credential: kept, until: null } : null
  return {
    pass: () => pass,
    open(given, keep) {
      pass = given
      if (keep && mayStay(given.credential)) storage.setItem(slot, given.credential)
      else storage.removeItem(slot)
    },
    close() {
      pass = null
      storage.removeItem(slot)
    },
  }
}
