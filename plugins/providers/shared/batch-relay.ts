import { isJsonObject, type JsonObject } from '../../../core/dialects/json-object.ts'
import type { Clock, Fetch } from '../../../core/ports/platform.ts'
import type { WireUsage } from '../../../core/ports/upstream.ts'
import { accepted } from '../../shared/backend.ts'
import type { BatchAsk, Batches } from '../../shared/more-abilities.ts'
import { usageOfResponses } from './responses/responses-answers.ts'

/** The routes of batches of one vendor. */
interface BatchRoutes {
  readonly fetch: Fetch
  readonly clock: Clock
  readonly baseUrl: string
  readonly dialect: string
  headers(told: Readonly<Record<string, string>>): Readonly<Record<string, string>>
  used(line: JsonObject): WireUsage | null
}

/** Sends what a surface asks of the vendor's batches, under the backend's own credential. */
export const batchRelay = ({ fetch, clock, baseUrl, dialect, headers, used }: BatchRoutes): Batches => ({
  dialect,
  used,
  async send({ path, type = 'application/json', headers: told = {}, ...ask }: BatchAsk, signal) {
    const own = { ...headers(told), 'content-type': type }
    return accepted(await fetch.upstream(`${baseUrl}${path}`, { ...ask, headers: own, signal }), clock)
  },
})

/** The usage of a line that OpenAI answered with success. */
export const usedOfOpenai = ({ response }: JsonObject): WireUsage | null => {
  const { status_code, body } = (response ?? {}) as { readonly status_code?: unknown; readonly body?: JsonObject }
  if (status_code !== 200) return null
  const usage = body?.['usage'] ?? null
  return isJsonObject(usage) && 'input_tokens' in usage ? usageOfResponses(usage) : (usage as WireUsage | null)
}
