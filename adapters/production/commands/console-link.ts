import type { AddressInfo } from 'node:net'
import type { ConsoleSessions } from '../../../plugins/surfaces/console/console-sessions.ts'

type Sessions = Pick<ConsoleSessions, 'link'>

/** Where a gateway listens and what it serves. */
export interface Served {
  readonly address: Pick<AddressInfo, 'address'>
  readonly url: string
  readonly prefix: string
  readonly surfaces: readonly string[]
}

/** Whether programs of this machine alone reach the port. */
const isLoopback = ({ address }: Served['address']): boolean => address === '::1' || /^127(?:\.\d+){3}$/.test(address)

/**
 * The address that signs in to the console once, in the place of the key; null where another machine reaches the port, or
 * where the console is switched off. The secret stands behind `#`, which no browser sends.
 */
export const consoleLink = async (
  sessions: Sessions,
  key: string,
  { address, url, prefix, surfaces }: Served,
): Promise<string | null> =>
  isLoopback(address) && surfaces.includes('console')
    ? `${url}${prefix}/console#link=${await sessions.link(key)}`
    : null
