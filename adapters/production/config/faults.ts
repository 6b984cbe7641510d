import * as v from 'valibot'
import { RefusedConfiguration } from '../../../core/errors.ts'
import { flaw } from '../../../core/plugin.ts'
import type { Shape } from './config-shape.ts'
import { didYouMean } from './did-you-mean.ts'
import { nameIn } from './variables.ts'

/** A fault of a configuration and its place. */
export interface Fault {
  readonly path: readonly (string | number)[]
  /** The text begins with the path. The value never appears: it may be a secret. */
  readonly words: string
}

/** A path as words name it. */
export const dotted = (path: Fault['path']): string => path.join('.')

/** A configuration is refused for these faults. */
export class FaultyConfiguration extends RefusedConfiguration {
  readonly faults: readonly Fault[]

  constructor(faults: readonly Fault[], message = faults.map(({ words }) => words).join('; '), options?: ErrorOptions) {
    super(
      message,
      faults.map(({ path }) => dotted(path)),
      options,
    )
    this.faults = faults
  }
}

/** The largest number of reported unknown keys. */
const mostUnknownKeys = 100

/** The known keys of the schema at this path; empty when any key is accepted. */
const known = (shape: Shape | undefined, path: readonly (string | number)[]): readonly string[] => {
  if (shape === undefined) return []
  if (shape.wrapped !== undefined) return known(shape.wrapped, path)
  if (shape.pipe !== undefined && shape.pipe[0] !== shape) return known(shape.pipe[0], path)
  if (shape.type === 'union' || shape.type === 'variant')
    return (shape.options ?? []).flatMap((option) => known(option as Shape, path))
  const [first, ...rest] = path
  if (first === undefined) return Object.keys(shape.entries ?? {})
  return known(shape.entries?.[first] ?? shape.value ?? shape.item, rest)
}

const pathOf = (issue: v.BaseIssue<unknown>): readonly (string | number)[] =>
  (issue.path ?? []).map(({ key }) => key as string | number)

/** The nearest known key or option as a question; empty when nothing is near. */
const hintOf = (shape: Shape, issue: v.BaseIssue<unknown>, path: readonly (string | number)[]): string => {
  if (issue.expected === 'never') return didYouMean(String(path.at(-1)), known(shape, path.slice(0, -1)))
  const options = [...(issue.expected ?? '').matchAll(/"([^"]*)"/g)].map(([, option]) => option!)
  return typeof issue.input === 'string' ? didYouMean(issue.input, options) : ''
}

/** The fault that an issue of a shape is. `place` is where the shape begins in the configuration. */
const faultOf = (shape: Shape, issue: v.BaseIssue<unknown>, place: Fault['path']): Fault => {
  const within = pathOf(issue)
  const start = place.length === 0 ? '' : dotted(place) + (within.length === 0 ? ': ' : '.')
  return { path: [...place, ...within], words: start + flaw(issue) + hintOf(shape, issue, within) }
}

/** Copies a value without the part at this path. */
const without = (value: unknown, [first, ...rest]: readonly (string | number)[]): unknown => {
  if (typeof value !== 'object' || value === null || first === undefined) return value
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string | number, unknown>
  if (rest.length === 0) delete copy[first]
  else copy[first] = without(copy[first], rest)
  return copy
}

/** All faults in the shape of a value, in the order of the shape. */
export const shapeFaultsOf = (shape: v.GenericSchema, value: unknown, place: Fault['path'] = []): readonly Fault[] => {
  const faults: Fault[] = []
  let rest = value
  // Each check reports one unknown key per object.
  for (let round = 0; round < mostUnknownKeys; round++) {
    const { issues = [] } = v.safeParse(shape, rest)
    const unknown = issues.filter(({ expected }) => expected === 'never')
    for (const issue of unknown.length > 0 ? unknown : issues) {
      faults.push(faultOf(shape as Shape, issue, place))
      rest = unknown.length > 0 ? without(rest, pathOf(issue)) : rest
    }
    if (unknown.length === 0) break
  }
  // Two checks of one value may say the same.
  return faults.filter(({ words }, at) => faults.findIndex((other) => other.words === words) === at)
}

type Members = Readonly<Record<string, unknown>>

/** Empty for anything but an object: the file is checked for secrets before its shape is known. */
const membersOf = (value: unknown): Members => (typeof value === 'object' && value !== null ? (value as Members) : {})

/** The secrets of logins that stand in the file itself, where only the name of a variable may stand. */
export const spelledSecrets = (written: unknown): readonly Fault[] =>
  Object.entries(membersOf(membersOf(written)['issuers'])).flatMap(([name, issuer]) => {
    const { secret } = membersOf(membersOf(issuer)['login'])
    const path = ['issuers', name, 'login', 'secret']
    const isSpelled = secret !== undefined && nameIn(secret) === null
    return isSpelled ? [{ path, words: `${path.join('.')} expected $NAME of a variable` }] : []
  })
