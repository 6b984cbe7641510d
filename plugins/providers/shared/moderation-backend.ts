import { garbled, readObject } from '../../shared/backend.ts'
import type { MoreAbilities } from '../../shared/more-abilities.ts'
import { type JsonRoute, postedJson } from './posted-json.ts'

/** The route by which OpenAI judges contents. */
export const moderationBackend =
  (route: JsonRoute): NonNullable<MoreAbilities['moderate']> =>
  async ({ model, input }, signal) => {
    const answer = await postedJson(route, { model, input }, signal)
    const body = await readObject(answer)
    if (!Array.isArray(body['results'])) throw garbled('The answer judges nothing', answer.status)
    return { body }
  }
