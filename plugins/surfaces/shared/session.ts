import type { IncomingHttpHeaders } from 'node:http'

/** Headers in which clients name a session. */
const named = ['x-claude-code-session-id', 'session_id', 'session-id'] as const

/** A longer name is no session: hashing it would only cost. */
const mostCharacters = 256

/** The name by which the caller tells its conversations apart; null when it gave none. */
export const sessionOf = (headers: IncomingHttpHeaders, cacheKey: unknown = null): string | null => {
  const candidates = [...named.map((name) => headers[name]), cacheKey]
  const session = candidates.find((id) => typeof id === 'string' && id !== '' && id.length <= mostCharacters)
  return typeof session === 'string' ? session : null
}
