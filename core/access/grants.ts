import { BadRequest, Forbidden } from '../errors.ts'
import type { Limits, Settings } from '../settings.ts'
import { listed, reaches } from './addresses.ts'
import { type Caller, type Scope, limitsOf } from './caller.ts'
import type { KeyRow } from './keyring.ts'

/** What one key may give to another. */
export interface Given {
  readonly scopes?: readonly Scope[] | undefined
  readonly models?: readonly string[] | null | undefined
  readonly addresses?: readonly string[] | null | undefined
  readonly limits?: Partial<Limits> | undefined
  readonly expires_at?: number | null | undefined
}

export type Granted = Pick<KeyRow, 'scopes' | 'models' | 'addresses' | 'limits' | 'expires_at'>

/** Throws Forbidden where more is given than the giver has itself, and BadRequest for what is wrong in any case. */
export const mayGive = (given: Given, own: KeyRow, caller: Caller, settings: Settings, now: number): void => {
  const {
    scopes = [],
    models = own.models,
    addresses = own.addresses,
    limits = {},
    expires_at = own.expires_at,
  } = given
  if (expires_at !== null && expires_at <= now) {
    throw new BadRequest('Validation failed', { validator: { expires_at: 'Expected a time to come' } })
  }
  listed(addresses)
  refuse(
    'scopes',
    scopes.every((scope) => own.scopes.includes(scope)),
  )
  refuse('models', own.models === null || (models !== null && models.every((model) => own.models!.includes(model))))
  refuse('addresses', reaches(own.addresses, addresses))
  refuse('expires_at', own.expires_at === null || (expires_at !== null && expires_at <= own.expires_at))
  const most = limitsOf(caller, settings)
  const within = ([name, value]: [string, number | null | undefined]) => {
    const bound = most[name as keyof Limits]
    return value === undefined || bound === null || (value !== null && value <= bound)
  }
  refuse('limits', Object.entries(limits).every(within))
}

/** What a new key gets: what is given, and otherwise what its maker has. */
export const granted = (given: Given, own: KeyRow): Granted => ({
  scopes: given.scopes ?? own.scopes,
  models: given.models === undefined ? own.models : given.models,
  addresses: given.addresses === undefined ? own.addresses : given.addresses,
  limits: { ...own.limits, ...given.limits },
  expires_at: given.expires_at === undefined ? own.expires_at : given.expires_at,
})

const refuse = (field: string, fine: boolean): void => {
  if (!fine)
    throw new Forbidden('A key cannot be given more than its giver has', {
      validator: { [field]: 'Expected no more than the caller’s own key has' },
    })
}
