import type { IncomingHttpHeaders } from 'node:http'

/** Headers in which clients name a session. */
const named = ['x-claude-code-session-id', 'session_id', 'session-id'] as const

/** A longer name is no session: hashing it would only cost. */
const mostCharacters = 256

/** The name by which the caller tells its conversations apart; null when it gave none. */
export const sessionOf = (headers: IncomingHttpHeaders, cacheKey: unknown = null): string | null => {
  for (const name of named) {
    const id = headers[name]
    if (isSession(id)) return id
  }
  return isSession(cacheKey) ? cacheKey : null
}

const isSession = (id: unknown): id is string => typeof id === 'string' && id !== '' && id.length <= mostCharacters
