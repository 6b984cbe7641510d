import * as v from 'valibot'
import { BadRequest } from './errors.ts'

/** A check by a function says in its message what it wants; the library's own messages, which quote what came, are not used. */
const wanted = ({ expected, requirement, message }: v.BaseIssue<unknown>): unknown =>
  !message.startsWith('Invalid')
    ? message
    : (expected ?? (typeof requirement === 'function' ? 'another value' : requirement))

/** An object that lacks a field expects its name. */
const isMissing = ({ type, expected, input }: v.BaseIssue<unknown>): boolean =>
  input === undefined &&
  (type === 'object' || type === 'strict_object' || type === 'loose_object') &&
  expected !== 'Object'

/** What stands in the answer is what was expected where, never what was received. */
export const checked = <S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> => {
  const result = v.safeParse(schema, value, { abortPipeEarly: true })
  if (result.success) return result.output
  const validator: Record<string, string> = Object.create(null)
  for (const issue of result.issues.slice(0, 20)) {
    const field = (v.getDotPath(issue) ?? 'body').slice(0, 100)
    validator[field] ??=
      issue.expected === 'never' ? 'Unknown field' : isMissing(issue) ? 'Required' : `Expected ${wanted(issue)}`
  }
  throw new BadRequest('Validation failed', { validator })
}
