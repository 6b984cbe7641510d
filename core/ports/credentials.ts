import type { Caller } from '../access/caller.ts'
import { functions, many } from '../container.ts'
import type { Budgets } from '../settings.ts'

/** A credential that was found, ready for use. */
export interface Holder {
  readonly caller: Caller
  /** Whether the credential may be used from there; null stands for an unknown address. */
  admits(address: string | null): boolean
}

/** A kind of credentials beside keys, such as tokens of an issuer or sessions of a page. */
export interface Credentials {
  /** Whether a credential is of this kind, by its form alone. */
  takes(credential: string): boolean
  /** Null for every bad credential; only the log has the reason. Throws Unavailable while it can't be checked. */
  find(credential: string): Promise<Holder | null>
}

/** The keys of the gateway itself are no part of this port. */
export const Credentials = many<Credentials>('Credentials', functions('takes', 'find'))

/** A team that stands in no configuration. */
export interface KeptTeam {
  readonly budgets: Partial<Budgets>
  /** A closed team has no callers. */
  readonly isClosed: boolean
}

/** Teams that are kept beside those of the configuration. */
export interface KeptTeams {
  /** Null for a team that is not kept, or that the configuration has. Rejects as the store does. */
  find(organization: string, team: string): Promise<KeptTeam | null>
}

/** The port of kept teams. */
export const KeptTeams = many<KeptTeams>('KeptTeams', functions('find'))
