import type { Gateway } from './gateway.ts'

/** What `sealgate console` tells the page that it serves. */
export interface OwnMachine {
  /** The address of the gateway behind this machine. */
  readonly gateway: string
  /** The text of the policy file that the command was given; null without one. */
  readonly policy: string | null
  readonly allowInsecureDev: boolean
  /** The id of the key-encryption key that the command holds; null where it holds none. */
  readonly kid: string | null
}

/** The shape of the token that opens the door of `sealgate console`. */
const token = /^own_[\w-]{43}$/

export const isOwnToken = (text: string): boolean => token.test(text)

/** Whether the reader's own machine serves this page. A gateway serves it without the mark. */
export const isOwnPage = (page: Document): boolean =>
  page.querySelector('meta[name="sealgate-console"][content="own"]') !== null

/** The token behind `#`, as the command prints the address; it leaves the address bar at once. Null without one. */
export const takenToken = ({ hash, pathname }: Location, history: History): string | null => {
  const fragment = hash.slice(1)
  if (!isOwnToken(fragment)) return null
  history.replaceState(null, '', pathname)
  return fragment
}

export const ownMachineOf = (gateway: Gateway): Promise<OwnMachine> => gateway.ask('GET', '/own')
