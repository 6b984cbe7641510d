import type { Clock, Fetch } from '../../../core/ports/platform.ts'
import { accepted, garbled, readObject } from '../../shared/backend.ts'
import type { MoreAbilities } from '../../shared/more-abilities.ts'
import { printJson } from './print-json.ts'

interface ModerationRoute {
  readonly fetch: Fetch
  readonly clock: Clock
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** The route by which OpenAI judges contents. */
export const moderationBackend =
  ({ fetch, clock, url, headers }: ModerationRoute): NonNullable<MoreAbilities['moderate']> =>
  async ({ model, input }, signal) => {
    const body = await printJson({ model, input })
    const ask = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body, signal } as const
    const answer = await accepted(await fetch.upstream(url, ask), clock)
    const told = await readObject(answer)
    if (!Array.isArray(told['results'])) throw garbled('The answer judges nothing', answer.status)
    return { body: told }
  }
