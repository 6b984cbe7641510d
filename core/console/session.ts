import { isOwnToken } from './own-machine.ts'

const slot = 'sealgate.console.key'

/** The shape of every key, so that nothing else is ever sent as one. */
const shape = /^sk_(?:live|test)_[1-9A-HJ-NP-Za-km-z]{40,48}$/

/** The reader's key: in the memory of this tab, and in its session storage only where the reader asks for that. */
export interface Session {
  key(): string | null
  open(key: string, keep: boolean): void
  close(): void
}

export const isKey = (text: string): boolean => shape.test(text) || isOwnToken(text)

export const sessionOf = (storage: Storage): Session => {
  const kept = storage.getItem(slot)
  let key = kept !== null && isKey(kept) ? kept : null
  return {
    key: () => key,
    open(given, keep) {
      key = given
      if (keep) storage.setItem(slot, given)
      else storage.removeItem(slot)
    },
    close() {
      key = null
      storage.removeItem(slot)
    },
  }
}
