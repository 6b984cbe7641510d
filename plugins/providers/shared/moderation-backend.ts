import { garbled } from '../../shared/backend.ts'
import type { MoreAbilities } from '../../shared/more-abilities.ts'
import { type ObjectRoute, postedObject } from './posted-object.ts'

/** The route by which OpenAI judges contents. */
export const moderationBackend =
  (route: ObjectRoute): NonNullable<MoreAbilities['moderate']> =>
  async ({ model, input }, signal) => {
    const { body, status } = await postedObject(route, { model, input }, signal)
    if (!Array.isArray(body['results'])) throw garbled('The answer judges nothing', status)
    return { body }
  }
