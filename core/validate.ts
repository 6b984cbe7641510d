import * as v from 'valibot'
import { BadRequest } from './errors.ts'

/** Faults that a check looks for before it stops. */
const mostFaults = 20

/**
 * A schema asks `abortEarly` once for each entry that fails, so a counting answer stops it. The library's own result
 * keeps an issue for every entry: a list of a million wrong ones costs gigabytes.
 */
class Stopping implements v.Config<v.BaseIssue<unknown>> {
  left = mostFaults
  readonly abortPipeEarly = true
  get abortEarly(): boolean {
    return --this.left <= 0
  }
}

type Checked<S extends v.GenericSchema> =
  | { readonly output: v.InferOutput<S>; readonly issues: null }
  | { readonly output: null; readonly issues: readonly [v.BaseIssue<unknown>, ...v.BaseIssue<unknown>[]] }

/** Checks a value in time that its first `most` faults bound, however many others follow. */
export const checkedWithin = <S extends v.GenericSchema>(schema: S, value: unknown, most: number): Checked<S> => {
  const stopping = new Stopping()
  stopping.left = most
  const { value: output, issues } = schema['~run']({ value }, stopping)
  return issues === undefined ? { output: output as v.InferOutput<S>, issues: null } : { output: null, issues }
}

/** A check by a function says in its message what it wants; the library's own messages, which quote the input, are not used. */
const wanted = ({ expected, requirement, message }: v.BaseIssue<unknown>): unknown => {
  if (!message.startsWith('Invalid')) return message
  if (requirement instanceof RegExp) return 'another form'
  return expected ?? (typeof requirement === 'function' ? 'another value' : requirement)
}

/** An object that lacks a field expects its name. */
const isMissing = ({ type, expected, input }: v.BaseIssue<unknown>): boolean =>
  input === undefined &&
  (type === 'object' || type === 'strict_object' || type === 'loose_object') &&
  expected !== 'Object'

/** Throws BadRequest; its `validator` names each wrong field and the expectation, never the received value. */
export const checked = <S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> => {
  const { output, issues } = checkedWithin(schema, value, mostFaults)
  if (issues === null) return output
  const validator: Record<string, string> = Object.create(null)
  for (const issue of issues.slice(0, mostFaults)) {
    const field = (v.getDotPath(issue) ?? 'body').slice(0, 100)
    validator[field] ??=
      issue.expected === 'never' ? 'Unknown field' : isMissing(issue) ? 'Required' : `Expected ${wanted(issue)}`
  }
  throw new BadRequest('Validation failed', { validator })
}

/**
 * A list whose length is checked before its items are; `most` may be `Infinity`. A list whose items all pass `isItem` is not checked further: the
 * library takes as long for each number as the parser for a line.
 */
export const listOf = <S extends v.GenericSchema>(
  item: S,
  least: number,
  most: number,
  isItem: (item: unknown) => boolean = () => false,
) => {
  const list = v.pipe(v.array(item), v.minLength(least), v.maxLength(most))
  const shown = most === Infinity ? v.pipe(v.array(item), v.minLength(least)) : list
  const length = v.pipe(v.array(v.unknown()), v.minLength(least), v.maxLength(most))
  const run: (typeof list)['~run'] = (dataset, config) => {
    const { value } = dataset
    if (!Array.isArray(value)) return list['~run'](dataset, config)
    if (value.length >= least && value.length <= most) {
      const isTyped = value.length > 0 && value.every(isItem)
      return isTyped ? ({ typed: true, value } as ReturnType<typeof run>) : list['~run'](dataset, config)
    }
    return length['~run']({ value: value.slice(0, most + 1) }, config) as ReturnType<(typeof list)['~run']>
  }
  return { ...shown, '~run': run } as typeof list
}
