import type { IncomingMessage } from 'node:http'

type Headers = Readonly<Record<string, string>>

const own = 'answered-by attempts budget budget-reset dropped estimated guards refusal rule window window-reset'

/** Headers of an answer that a page may read. */
const shown = [
  ...['x-request-id', 'retry-after', 'retry-after-ms', 'x-should-retry'],
  ...own.split(' ').map((name) => `x-sealgate-${name}`),
  ...['requests', 'tokens'].flatMap((kind) =>
    ['limit', 'remaining', 'reset'].map((field) => `x-ratelimit-${field}-${kind}`),
  ),
].join(', ')

/** Names of headers, as a browser lists those that a page wants to send. */
const names = /^[\w-]+(?:, ?[\w-]+)*$/
const mostNames = 2048

/** Seconds for which a browser remembers what a path takes. */
const remembered = '600'

/**
 * What an answer tells a browser of pages from other origins: nothing, unless the settings list the page's origin to the
 * letter. Credentials of the browser are never allowed, so a page has to show a key of its own.
 */
export const crossOrigin = ({ headers }: IncomingMessage, origins: readonly string[]): Headers => {
  if (origins.length === 0) return {}
  const { origin } = headers
  // A cache between keeps the answers to different origins apart.
  if (origin === undefined || !origins.includes(origin)) return { vary: 'origin' }
  return { vary: 'origin', 'access-control-allow-origin': origin, 'access-control-expose-headers': shown }
}

/** The answer to a browser that asks before it sends; null for every other request. */
export const preflight = ({ method, headers }: IncomingMessage, allowed: Headers, methods: string): Headers | null => {
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return null
  if (allowed['access-control-allow-origin'] === undefined || methods === '') return null
  const wanted = headers['access-control-request-headers'] ?? ''
  return {
    'access-control-allow-methods': methods,
    ...(wanted.length <= mostNames && names.test(wanted) && { 'access-control-allow-headers': wanted }),
    'access-control-max-age': remembered,
  }
}
