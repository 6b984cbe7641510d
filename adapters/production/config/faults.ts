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
  /** The variable whose value is wrong; the text then begins with that name. */
  readonly variable?: string
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

/** The largest number of checks of one value. Each check finds unknown keys of one option of a variant. */
const mostChecks = 10

/** The known keys of the schema at this path; null where the schema names no keys. */
const known = (shape: Shape | undefined, path: readonly (string | number)[]): readonly string[] | null => {
  if (shape === undefined) return null
  if (shape.wrapped !== undefined) return known(shape.wrapped, path)
  if (shape.pipe !== undefined && shape.pipe[0] !== shape) return known(shape.pipe[0], path)
  if (shape.type === 'union' || shape.type === 'variant') {
    const named = (shape.options ?? []).map((option) => known(option as Shape, path)).filter((keys) => keys !== null)
    return named.length === 0 ? null : named.flat()
  }
  const [first, ...rest] = path
  if (first === undefined) return shape.entries === undefined ? null : Object.keys(shape.entries)
  return known(shape.entries?.[first] ?? shape.value ?? shape.item, rest)
}

const pathOf = (issue: v.BaseIssue<unknown>): readonly (string | number)[] =>
  (issue.path ?? []).map(({ key }) => key as string | number)

/** The nearest known key or option as a question; empty when nothing is near. */
const hintOf = (shape: Shape, issue: v.BaseIssue<unknown>, path: readonly (string | number)[]): string => {
  if (issue.expected === 'never') return didYouMean(String(path.at(-1)), known(shape, path.slice(0, -1)) ?? [])
  const options = [...(issue.expected ?? '').matchAll(/"([^"]*)"/g)].map(([, option]) => option!)
  return typeof issue.input === 'string' ? didYouMean(issue.input, options) : ''
}

/** The fault that an issue of a shape is. `place` is where the shape begins in the configuration. */
const faultOf = (shape: Shape, issue: v.BaseIssue<unknown>, place: Fault['path']): Fault => {
  const within = pathOf(issue)
  const start = place.length === 0 ? '' : dotted(place) + (within.length === 0 ? ': ' : '.')
  return { path: [...place, ...within], words: start + flaw(issue) + hintOf(shape, issue, within) }
}

type Cut = Record<string | number, unknown>

const copied = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(copied)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copied(member)]))
}

/** A copy of a value without the parts at these paths. */
const without = (value: unknown, paths: readonly Fault['path'][]): unknown => {
  const copy = copied(value)
  for (const path of paths) {
    const parent = path.slice(0, -1).reduce<unknown>((part, key) => (part as Cut)[key], copy)
    delete (parent as Cut)[path.at(-1)!]
  }
  return copy
}

type Issue = v.BaseIssue<unknown>

/** A check reports one unknown key of each object: these are the issues of all unknown keys of that object. */
const unknownIn = (shape: Shape, issue: Issue): readonly Issue[] => {
  const path = pathOf(issue)
  const names = known(shape, path.slice(0, -1))
  const last = issue.path?.at(-1)
  if (names === null || last === undefined) return [issue]
  const [own, keys] = [path.at(-1), new Set(names)]
  return Object.keys(last.input as object)
    .filter((key) => key === own || !keys.has(key))
    .map((key) => ({ ...issue, path: issue.path?.with(-1, { ...last, key } as v.IssuePathItem) as Issue['path'] }))
}

/** All faults in the shape of a value, in the order of the shape. Unknown keys beyond a bound are left out. */
export const shapeFaultsOf = (shape: v.GenericSchema, value: unknown, place: Fault['path'] = []): readonly Fault[] => {
  const issues: Issue[] = []
  let rest = value
  for (let check = 0; check < mostChecks; check++) {
    const { issues: found = [] } = v.safeParse(shape, rest)
    const unknown = found.filter(({ expected }) => expected === 'never')
    if (unknown.length === 0) {
      issues.push(...found)
      break
    }
    const all = unknown.flatMap((issue) => unknownIn(shape as Shape, issue))
    issues.push(...all.slice(0, mostUnknownKeys))
    rest = without(rest, all.map(pathOf))
  }
  const faults = issues.map((issue) => faultOf(shape as Shape, issue, place))
  // Two checks of one value may say the same.
  const first = new Map(faults.toReversed().map((fault) => [fault.words, fault]))
  return faults.filter((fault) => first.get(fault.words) === fault)
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

/** Members of every object of JavaScript: a shape passes over them, so what bears such a name would be lost. */
const barredNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** The names of a configuration that nothing can bear. */
export const unusableNames = (written: unknown, path: readonly string[] = []): readonly Fault[] =>
  Object.entries(membersOf(written)).flatMap(([name, value]) => {
    const at = [...path, name]
    return barredNames.has(name)
      ? [{ path: at, words: `${dotted(at)} is a name that nothing can have` }]
      : unusableNames(value, at)
  })
