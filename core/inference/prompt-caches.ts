import { hash } from 'node:crypto'
import type { JsonObject } from '../dialects/json-object.ts'

/** Members by which a request names its part of a backend's prompt cache. */
const names = ['prompt_cache_key', 'cache_salt'] as const

/**
 * The body with a part of the cache that is its organisation's own: the time of an answer tells whether a prompt was
 * cached, so callers that share a part learn of each other's prompts. Without an organisation no part is named.
 */
export const withOwnCache = <Body extends JsonObject>(body: Body, organization: string | null): Body => {
  const named = names.filter((name) => body[name] != null)
  if (named.length === 0) return body
  const own = named.map((name) => [name, organization === null ? undefined : partOf(organization, body[name])])
  return { ...body, ...Object.fromEntries(own) }
}

/** 32 characters, since OpenAI takes at most 64. */
const partOf = (organization: string, value: unknown): string =>
  hash('sha256', JSON.stringify(['prompt cache', organization, value]), 'hex').slice(0, 32)
