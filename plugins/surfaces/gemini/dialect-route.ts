import * as v from 'valibot'
import { googleError } from '../../shared/dialects/generate-content/error.ts'
import { rendering } from '../shared/dialect-route.ts'

/** Errors as Google words them: a numeric code and a status in capitals. */
export const asGoogle = rendering(googleError)

/** The form of errors in this dialect. */
export const googleFaults = {
  default: v.pipe(
    v.object({
      error: v.object({
        code: v.number(),
        message: v.string(),
        status: v.string(),
        details: v.optional(v.array(v.looseObject({}))),
      }),
    }),
    v.title('GeminiError'),
  ),
}
