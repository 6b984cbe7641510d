import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Entry } from '../../../core/inference/models/catalog-entry.ts'
import type { ChatBody, Message } from '../../../core/ports/upstream.ts'

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

/**
 * A mark that calls of one conversation share: made of the session that the caller names, else of the conversation's
 * beginning. Neither can be read from it. Null where there is no choice.
 */
export const affinityOf = (
  entry: Entry,
  organization: string,
  { messages }: ChatBody,
  session: string | null = null,
): string | null => {
  if (entry.candidates.length < 2) return null
  if (session !== null) return shortHash([entry.name, organization, 'session', session])
  const system = messages.find(({ role }) => role === 'system' || role === 'developer')
  const user = messages.find(({ role }) => role === 'user')
  return shortHash([entry.name, organization, beginning(system), beginning(user)])
}

const shortHash = (parts: readonly string[]): string => hash('sha256', parts.join('\0'), 'hex').slice(0, 16)

/** Characters of a message, and parts of it, that tell conversations apart. */
const tellingCharacters = 16_384
const parts = 64

/** The beginning of the text, and of an image its length and end. */
const beginning = (message: Message | undefined): string => {
  const content = message?.content
  if (typeof content === 'string') return content.slice(0, tellingCharacters)
  return (content ?? [])
    .slice(0, parts)
    .map(
      ({ type, text, image_url }) =>
        text?.slice(0, tellingCharacters) ?? `${type} ${image_url?.url.length} ${image_url?.url.slice(-64)}`,
    )
    .join('\0')
}
