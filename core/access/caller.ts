import type { Budgets, Limits, Settings } from '../settings.ts'
import type { Scope } from './scopes.ts'

export { type Scope, plainScopes, scopes } from './scopes.ts'

/** A key in the line of makers of another, whether it still lives or not. */
export interface Maker {
  /** The key's id. */
  readonly key: string
  readonly limits: Partial<Limits>
}

/** Who is calling, as the key or the token says. */
export interface Caller {
  /** The id of the key, never the key; of a person with a token, an id made of the issuer, the organisation and the user. */
  readonly key: string
  readonly organization: string
  readonly user: string
  /** Of the organisation; absent for those of no team. */
  readonly team?: string
  /** Of a team that is kept; absent for the others. */
  readonly teamBudgets?: Partial<Budgets>
  readonly scopes: readonly Scope[]
  /** Models that the key may use; null for all. */
  readonly models: readonly string[] | null
  /** What differs from the configured limits of a key. */
  readonly limits: Partial<Limits>
  /** Pairs under which the caller wants this request counted, such as `feature=search`; absent for none. */
  readonly tags?: readonly string[]
  /** Keys whose daily allowances it shares; absent where no other key made it. */
  readonly makers?: readonly Maker[]
}

/** Whether a key may do that. Whatever a key is for, it may read which models there are. */
export const hasScope = ({ scopes }: Pick<Caller, 'scopes'>, scope: Scope): boolean =>
  scopes.includes(scope) || (scope === 'models.read' && scopes.length > 0)

/** What a key may do: the configured limits with its own in front. */
export const limitsOf = ({ limits }: Pick<Caller, 'limits'>, settings: Settings): Limits => ({
  ...settings.limits.key,
  ...limits,
})

/** What the keys of an organisation may do together. */
export const organizationLimitsOf = (organization: string, { limits, organizations }: Settings): Limits =>
  Object.hasOwn(organizations, organization)
    ? { ...limits.organization, ...organizations[organization]?.limits }
    : limits.organization

/** The teams of an organisation that the configuration names. */
export const teamsOf = (
  organization: string,
  organizations: Settings['organizations'],
): Settings['organizations'][string]['teams'] =>
  Object.hasOwn(organizations, organization) ? (organizations[organization]?.teams ?? {}) : {}

/** A model that the key may not use does not exist for it. */
export const mayUse = (caller: Caller, model: string): boolean =>
  caller.models === null || caller.models.includes(model)
