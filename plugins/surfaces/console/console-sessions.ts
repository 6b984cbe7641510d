import { hash } from 'node:crypto'
import { one } from '../../../core/container.ts'
import { plugin } from '../../../core/plugin.ts'
import { type Kind, type MetadataStore as Rows, MetadataStore, kind } from '../../../core/ports/metadata-store.ts'
import { Clock, Random } from '../../../core/ports/platform.ts'
import { credentialHash, modeOf, newCredential } from '../../../core/access/credential.ts'
import { Keyring } from '../../../core/access/keyring.ts'
import { Credentials, type Holder } from '../../../core/ports/credentials.ts'
import type { Lent } from '../../shared/login-codes-port.ts'

/** What a link or a session stands for, under the hash of its secret. */
interface StandIn {
  /** The hash under which the key is stored. */
  readonly key: string
  /** When it was made or renewed. */
  readonly since: number
  readonly expires_at: number
}

/** A session ends at `expires_at` where nobody renews it, and at `ends_at` at the latest. */
interface Session extends StandIn {
  readonly ends_at: number
}

/** Links and sessions lie under hashes, so a copy of the store opens no console. */
const links = kind<StandIn>('console-link')
const sessions = kind<Session>('console-session')

/** A link that is good, and the key for which it stands. */
export interface GoodLink {
  readonly holder: Holder
  readonly key: string
}

/**
 * Links that open the console once, and the sessions behind them. A session can do what its key can, ends with it, and
 * never tells it.
 */
export interface ConsoleSessions {
  /** The secret of a new link for a key. The secret is in this answer and nowhere else. */
  link(key: string): Promise<string>
  /** Leaves the link as it is. Null for every kind of bad link. */
  read(secret: string): Promise<GoodLink | null>
  /** Spends a link. True for one call of all processes. */
  take(secret: string): Promise<boolean>
  /** A session of so many ms, which ends earlier where nobody renews it for `idleMs`. */
  open(link: Pick<GoodLink, 'key'>, ms: number, idleMs: number): Promise<OpenedSession>
  /** Opens a session for a key, or for the key of a session that ends then. Null for every other credential. */
  hold(credential: string, ms: number, idleMs: number): Promise<OpenedSession | null>
  /**
   * The credential of the session, good for `idleMs` more. Null for every kind of bad secret. A tab that shows the credential
   * of an earlier session of the same key gets that one: a browser keeps the secret of its newest session alone.
   */
  renew(secret: string, idleMs: number, shown?: string | null): Promise<Lent | null>
  /** Whether a credential is looked up as a session. */
  takes(credential: string): boolean
  /** Null for every kind of bad credential. */
  find(credential: string): Promise<Holder | null>
  /** Counts everywhere at once. Twice is fine. `all` ends every session of the same key. */
  close(credential: string, all?: boolean): Promise<void>
}

/** A session with the secret that renews it, which its credential does not tell. */
export interface OpenedSession extends Lent {
  readonly secret: string
}

export const ConsoleSessions = one<ConsoleSessions>('ConsoleSessions')

/** Ms in which a link can be taken. */
const linkMs = 300_000

/** Ms by which clocks of processes may differ. A clock that is further behind was set back. */
const skewMs = 60_000

/** The secret names its credential, and no credential names its secret. */
const credentialBehind = (secret: string): string =>
  newCredential('console', { bytes: () => hash('sha256', `sealgate console ${secret}`, 'buffer'), fraction: () => 0 })

const isSession = (credential: string): boolean => credential.startsWith('sk_console_')

const livingIn = async <T extends StandIn>(
  rows: Rows,
  kind: Kind<T>,
  secret: string,
  now: number,
): Promise<T | null> => {
  const row = await rows.get(kind, credentialHash(secret))
  // A clock that was set back would lengthen it.
  return row !== null && now > row.since - skewMs && now < row.expires_at ? row : null
}

/** Sessions in the store, so a session that one process opened is good at every other. */
export const consoleSessions = plugin({
  port: ConsoleSessions,
  name: 'console-sessions',
  needs: { rows: MetadataStore, keyring: Keyring, clock: Clock, random: Random },
  create({ rows, keyring, clock, random }): ConsoleSessions {
    const newSecret = (): string => Buffer.from(random.bytes(32)).toString('base64url')

    const open: ConsoleSessions['open'] = async ({ key }, ms, idleMs) => {
      const [secret, now] = [newSecret(), clock.now()]
      const credential = credentialBehind(secret)
      const [ends_at, expires_at] = [now + ms, now + Math.min(ms, idleMs)]
      await rows.create(sessions, credentialHash(credential), { key, since: now, expires_at, ends_at })
      return { credential, expires_at, secret }
    }

    /** Null where the session has ended meanwhile. */
    const prolong = async (
      credential: string,
      { ends_at }: Session,
      since: number,
      idleMs: number,
    ): Promise<Lent | null> => {
      const expires_at = Math.min(ends_at, since + idleMs)
      const renewed = await rows.update(sessions, credentialHash(credential), { since, expires_at })
      return renewed && { credential, expires_at }
    }

    const closeAll = async (key: string): Promise<void> => {
      const all = await rows.list(sessions, { where: { key } })
      await Promise.all(all.rows.map(({ id }) => rows.remove(sessions, id)))
    }

    return {
      open,

      async link(key) {
        const [secret, since] = [newSecret(), clock.now()]
        const row = { key: credentialHash(key), since, expires_at: since + linkMs }
        await rows.create(links, credentialHash(secret), row)
        return secret
      },

      async read(secret) {
        const link = await livingIn(rows, links, secret, clock.now())
        const holder = link && (await keyring.held(link.key))
        return holder && { holder, key: link!.key }
      },

      // The store lets one process alone remove a row.
      take: (secret) => rows.remove(links, credentialHash(secret)),

      async hold(credential, ms, idleMs) {
        if (modeOf(credential) !== null) return open({ key: credentialHash(credential) }, ms, idleMs)
        const session = await livingIn(rows, sessions, credential, clock.now())
        if (session === null || !(await rows.remove(sessions, credentialHash(credential)))) return null
        return open(session, ms, idleMs)
      },

      async renew(secret, idleMs, shown = null) {
        const [credential, since] = [credentialBehind(secret), clock.now()]
        const session = await livingIn(rows, sessions, credential, since)
        if (session === null || (await keyring.held(session.key)) === null) return null
        const lent = await prolong(credential, session, since, idleMs)
        if (lent === null || shown === null || shown === credential) return lent
        const earlier = await livingIn(rows, sessions, shown, since)
        if (earlier?.key !== session.key) return lent
        return (await prolong(shown, earlier, since, idleMs)) ?? lent
      },

      // Nothing is looked up for the answer.
      takes: isSession,

      async find(credential) {
        const session = await livingIn(rows, sessions, credential, clock.now())
        return session && keyring.held(session.key)
      },

      async close(credential, all = false) {
        const session = await rows.get(sessions, credentialHash(credential))
        await rows.remove(sessions, credentialHash(credential))
        if (all) await closeAll(session?.key ?? credentialHash(credential))
      },
    }
  },
})

/** Sessions of the console as credentials. */
export const sessionCredentials = plugin({
  port: Credentials,
  name: 'console-sessions',
  needs: { sessions: ConsoleSessions },
  create: ({ sessions }): Credentials => ({
    takes: (credential) => sessions.takes(credential),
    find: (credential) => sessions.find(credential),
  }),
})
