import type { Clock, Fetch } from '../../../core/ports/platform.ts'
import { accepted, readObject } from '../../shared/backend.ts'
import { printJson } from './print-json.ts'

/** A route of a backend that takes an object and answers with one. */
export interface ObjectRoute {
  readonly fetch: Fetch
  readonly clock: Clock
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** Sends an object to the route. Gives the object of the answer, with its status. */
export const postedObject = async (
  { fetch, clock, url, headers }: ObjectRoute,
  fields: object,
  signal: AbortSignal,
) => {
  const typed = { ...headers, 'content-type': 'application/json' }
  const body = await printJson(fields)
  const answer = await accepted(await fetch.upstream(url, { method: 'POST', headers: typed, body, signal }), clock)
  return { body: await readObject(answer), status: answer.status }
}
