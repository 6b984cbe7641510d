import * as v from 'valibot'
import type { JsonObject } from '../../../core/dialects/json-object.ts'

/** Fields that make a request what it is. */
const essential = new Set(['model', 'messages', 'input', 'stream'])
const field = v.pipe(
  v.string(),
  v.minLength(1),
  v.check((name) => !essential.has(name), 'a field other than model, messages, input and stream'),
)

/** What an operator changes in the body of each chat for a vendor that differs: first `omit`, then `rename`, then `add`. */
export const RequestChange = v.strictObject({
  /** Fields that are left out, and told to the caller. */
  omit: v.optional(v.array(field), []),
  /** The vendor's names of fields, by those of the common format. */
  rename: v.optional(v.record(field, field), {}),
  /** Fields that a request without them gets. */
  add: v.optional(v.record(field, v.unknown()), {}),
})

/** The change after the check. */
export type RequestChange = v.InferOutput<typeof RequestChange>

/** The body as the operator wants it. */
export const changedBy =
  (change: RequestChange | undefined) =>
  (body: JsonObject): JsonObject => {
    if (change === undefined) return body
    const { omit, rename, add } = change
    const changed: Record<string, unknown> = { ...body }
    for (const name of omit) delete changed[name]
    for (const [ours, theirs] of Object.entries(rename)) {
      if (changed[ours] === undefined) continue
      changed[theirs] ??= changed[ours]
      delete changed[ours]
    }
    for (const [name, value] of Object.entries(add)) changed[name] ??= value
    return changed
  }
