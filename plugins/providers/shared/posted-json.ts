import type { Answer, Clock, Fetch } from '../../../core/ports/platform.ts'
import { accepted } from '../../shared/backend.ts'
import { printJson } from '../../shared/print-json.ts'

/** A route of a backend that takes JSON. */
export interface JsonRoute {
  readonly fetch: Fetch
  readonly clock: Clock
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** Sends an object to the route, and gives its answer of a 2xx. */
export const postedJson = async (
  { fetch, clock, url, headers }: JsonRoute,
  fields: object,
  signal: AbortSignal,
): Promise<Answer> => {
  const typed = { ...headers, 'content-type': 'application/json' }
  const body = await printJson(fields)
  return accepted(await fetch.upstream(url, { method: 'POST', headers: typed, body, signal }), clock)
}
