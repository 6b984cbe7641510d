import * as v from 'valibot'
import { section } from '../../../core/ports/section.ts'

const shape = v.optional(
  v.strictObject({
    /** Values of `anthropic-beta` that are refused, to the letter or with a star at the end. */
    refused: v.optional(
      v.array(v.pipe(v.string(), v.regex(/^[\w.-]+\*?$/, 'the name of a beta, or its beginning with a star'))),
      [],
    ),
  }),
  {},
)

/** Betas of the Messages dialect that the operator refuses. */
export const betas = section('betas', shape)
