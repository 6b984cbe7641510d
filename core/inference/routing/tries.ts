import type { IncomingHttpHeaders } from 'node:http'

/**
 * Which try of its request the caller makes, from 0: `uncounted` for a caller that tries again without counting, null for
 * a caller that says nothing of tries.
 */
export type Tries = number | 'uncounted' | null

/** Headers that count: this gateway's own as the client of another one, and that of the SDKs of OpenAI and Anthropic. */
export const retryCount = 'x-sealgate-retry-count'

/** Clients that try again by themselves and do not count, by a header of theirs. */
const uncounted: readonly (readonly [header: string, value: RegExp])[] = [
  ['x-goog-api-client', /google-genai-sdk/],
  ['originator', /^codex/],
  ['user-agent', /\b(?:ai-sdk|codex)/],
]

/** What the headers of a request say of its retries. */
export const triesOf = (headers: IncomingHttpHeaders): Tries => {
  for (const value of [headers[retryCount], headers['x-stainless-retry-count']])
    if (typeof value === 'string' && /^\d{1,4}$/.test(value)) return Number(value)
  return uncounted.some(([name, value]) => value.test(String(headers[name] ?? ''))) ? 'uncounted' : null
}

/**
 * Turns of all backends together. A caller that tries again by itself has one turn more than backends in its first try, and
 * none more later: the tries of all hops would multiply.
 */
export const mostTurns = (backends: number, retries: number, tries: Tries): number => {
  const most = Math.max(backends, 1 + retries)
  if (tries === null) return most
  return Math.min(most, tries === 0 || tries === 'uncounted' ? backends + 1 : backends)
}

/** Ms, doubled with each further try of the caller up to the longest. */
const firstPause = 2_500
const longestPause = 20_000

/** Ms until the caller may try again after a fault whose backend named no time. */
export const pauseFor = (tries: Tries): number =>
  Math.min(longestPause, firstPause * 2 ** (typeof tries === 'number' ? tries : 0))
