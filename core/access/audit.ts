import { one } from '../container.ts'
import { GatewayError, Unavailable } from '../errors.ts'
import { uuid7 } from '../uuid7.ts'
import { plugin } from '../plugin.ts'
import { Clock, Random } from '../ports/platform.ts'
import { MetadataStore, type Query, type Row, kind } from '../ports/metadata-store.ts'
import type { Caller } from './caller.ts'

/** Who acts. */
export interface Actor {
  /** A key's id, or `command` or `signal` for the operator of the machine. */
  readonly key: string
  /** Whose act it is: the organisation that may read of it. */
  readonly organization: string
  readonly user: string | null
  /** The request's id, where it was one. */
  readonly request: string | null
}

/** The caller, as the audit knows it. */
export const actorOf = (request: string, { key, organization, user }: Caller): Actor => ({
  key,
  organization,
  user,
  request,
})

/** The operator of the machine acts on a key's organisation, or on the default one. */
export const operator = (key: 'command' | 'signal', organization = 'default'): Actor => ({
  key,
  organization,
  user: null,
  request: null,
})

/** `refused` is an act that the caller may not do, and `failed` is an act that broke. */
export const outcomes = ['begun', 'done', 'refused', 'failed'] as const

/** One act as the store keeps it. The row holds no text of a user. */
export interface AuditRow {
  readonly organization: string
  readonly actor: string
  readonly user: string | null
  /** The act's name. Stored rows have it, so a name stays as it is. */
  readonly action: string
  /** The id of what it was done to; null until there is one. */
  readonly object: string | null
  /** Unix time in ms, when the act began. */
  readonly at: number
  readonly request: string | null
  /** `begun` is the last word of an act whose end could not be written. */
  readonly outcome: (typeof outcomes)[number]
}

/** Rows of the audit. Its one index serves the listing of an organisation by time. */
export const acts = kind<AuditRow>('audit', [['organization', 'at']])

/** Administrative acts: ids, names of acts and times, and no text of a user. */
export interface Audit {
  /**
   * Runs the act between two writes: that it begins, and how it ended, with the id that `objectOf` finds in what it gave.
   * Throws Unavailable when one of them fails: without the first nothing is done, without the second it was, and is not acknowledged.
   */
  record<T>(
    actor: Actor,
    action: string,
    object: string | null,
    act: () => Promise<T>,
    objectOf?: (outcome: T) => string,
  ): Promise<T>
  /** Rejects as the store does. */
  list(query: Query<AuditRow>): Promise<{ readonly rows: readonly Row<AuditRow>[]; readonly total: number }>
}

/** The port of the audit. */
export const Audit = one<Audit>('Audit')

/** The audit over the rows of the store. Ids sort by time. */
export const audit = plugin({
  port: Audit,
  name: 'audit',
  needs: { rows: MetadataStore, clock: Clock, random: Random },
  create: ({ rows, clock, random }): Audit => ({
    async record(actor, action, object, act, objectOf) {
      const { key, organization, user, request } = actor
      const id = `act_${uuid7(clock, random)}`
      const begun = {
        organization,
        actor: key,
        user,
        action,
        object,
        at: clock.now(),
        request,
        outcome: 'begun',
      } as const
      await rows.create(acts, id, begun).catch(unwritten)
      const end = (change: Partial<AuditRow>) => rows.update(acts, id, change).catch(unwritten)
      let outcome: Awaited<ReturnType<typeof act>>
      try {
        outcome = await act()
      } catch (error) {
        await end({ outcome: error instanceof GatewayError && error.status < 500 ? 'refused' : 'failed' })
        throw error
      }
      await end({ outcome: 'done', ...(objectOf && { object: objectOf(outcome) }) })
      return outcome
    },
    list: (query) => rows.list(acts, query),
  }),
})

const unwritten = (cause: unknown): never => {
  throw new Unavailable(undefined, { cause })
}
