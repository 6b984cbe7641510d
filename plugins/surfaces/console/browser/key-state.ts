import type { Key } from './answers.ts'
import { moment, span } from './format.ts'
import type { Lamp } from './parts.ts'

const soon = 7 * 86_400_000

export const stateOf = ({ revoked_at, expires_at }: Key, now: number): Lamp => {
  if (revoked_at !== null) return { kind: 'bad', words: 'revoked' }
  if (expires_at === null) return { kind: 'good', words: 'active' }
  if (expires_at <= now) return { kind: 'idle', words: 'expired' }
  return expires_at - now < soon
    ? { kind: 'mixed', words: `expires in ${span(expires_at - now)}` }
    : { kind: 'good', words: 'active' }
}

export const isAlive = (key: Key, now: number): boolean =>
  key.revoked_at === null && (key.expires_at === null || key.expires_at > now)

export const expiryOf = ({ expires_at }: Key): string => (expires_at === null ? 'never' : moment(expires_at))

/** The name of a key as it is shown; what stands for a name that nobody sees is given. */
export const nameOr = ({ name }: Pick<Key, 'name'>, none: string): string => (name.trim() === '' ? none : name)
