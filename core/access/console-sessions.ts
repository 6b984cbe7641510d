import { one } from '../container.ts'
import { plugin } from '../plugin.ts'
import { type Kind, type MetadataStore as Rows, MetadataStore, kind } from '../ports/metadata-store.ts'
import { Clock, Random } from '../ports/platform.ts'
import { credentialHash, isSessionCredential, newSessionCredential } from './credential.ts'
import { type Holder, Keyring } from './keyring.ts'

/** What a link or a session stands for, under the hash of its secret. */
interface StandIn {
  /** The hash under which the key is stored. */
  readonly key: string
  readonly expires_at: number
}

/** Links and sessions lie under hashes, so a copy of the store opens no console. */
const links = kind<StandIn>('console-link')
const sessions = kind<StandIn>('console-session')

/** What opens the console in the place of a key. */
export interface Lent {
  readonly credential: string
  /** Unix time in ms. */
  readonly expires_at: number
}

/** A link that was taken, and the key for which it stands. */
export interface TakenLink {
  readonly holder: Holder
  /** The hash under which the key is stored. */
  readonly key: string
}

/**
 * Links that open the console once, and the sessions behind them. A session can do what its key can, ends with it, and
 * never tells it.
 */
export interface ConsoleSessions {
  /** The secret of a new link for a key. The secret is in this answer and nowhere else. */
  link(key: string): Promise<string>
  /** Of any number of processes one is given the link, once. Null for every kind of bad link. */
  take(secret: string): Promise<TakenLink | null>
  /** A session of so many ms. */
  open(link: TakenLink, ms: number): Promise<Lent>
  /** Whether a credential is looked up as a session. */
  takes(credential: string): boolean
  /** Null for every kind of bad credential. */
  find(credential: string): Promise<Holder | null>
  /** Counts everywhere at once. Twice is fine. */
  close(credential: string): Promise<void>
}

/** The port of the console's sessions. */
export const ConsoleSessions = one<ConsoleSessions>('ConsoleSessions')

/** Ms in which a link can be taken. */
const linkMs = 300_000

const livingIn = async (rows: Rows, kind: Kind<StandIn>, secret: string, now: number): Promise<StandIn | null> => {
  const row = await rows.get(kind, credentialHash(secret))
  return row !== null && now < row.expires_at ? row : null
}

/** Sessions in the store, so a session that one process opened is good at every other. */
export const consoleSessions = plugin({
  port: ConsoleSessions,
  name: 'console-sessions',
  needs: { rows: MetadataStore, keyring: Keyring, clock: Clock, random: Random },
  create: ({ rows, keyring, clock, random }): ConsoleSessions => ({
    async link(key) {
      const secret = Buffer.from(random.bytes(32)).toString('base64url')
      const row = { key: credentialHash(key), expires_at: clock.now() + linkMs }
      await rows.create(links, credentialHash(secret), row)
      return secret
    },

    async take(secret) {
      const link = await livingIn(rows, links, secret, clock.now())
      // The store lets one process alone remove a row.
      if (link === null || !(await rows.remove(links, credentialHash(secret)))) return null
      const holder = await keyring.held(link.key)
      return holder && { holder, key: link.key }
    },

    async open({ key }, ms) {
      const credential = newSessionCredential(random)
      const expires_at = clock.now() + ms
      await rows.create(sessions, credentialHash(credential), { key, expires_at })
      return { credential, expires_at }
    },

    takes: isSessionCredential,

    async find(credential) {
      const session = await livingIn(rows, sessions, credential, clock.now())
      return session && keyring.held(session.key)
    },

    async close(credential) {
      await rows.remove(sessions, credentialHash(credential))
    },
  }),
})
