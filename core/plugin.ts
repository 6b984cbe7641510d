import * as v from 'valibot'
import type { Fitting, Members, Needs, Port, Supplied } from './container.ts'
import type { Section } from './ports/section.ts'
import { Unavailable } from './errors.ts'

/** One outside thing, spoken to through one port. */
export interface Plugin<T, N extends Needs, S extends v.GenericSchema> {
  /** Which socket it fits. */
  readonly port: Port<T>
  /** How the API and the configuration call it; equal to the file name. */
  readonly name: string
  /** The only place that knows this plugin's settings. */
  readonly settings?: S
  /** True for a part that a reload makes anew, since it depends on settings, backends or the enclave. */
  readonly renewed?: boolean
  /** Members of the gateway's settings that belong to it. */
  readonly sections?: readonly Section[]
  /** Other ports it uses. */
  readonly needs?: N
  create(supplied: Supplied<N>, settings: v.InferOutput<S>, name: string): NoInfer<T>
}

const none = v.strictObject({})

/** Declares a plugin; the types of what it is supplied with and of its settings follow from the declaration. */
export const plugin = <T, N extends Needs = {}, S extends v.GenericSchema = typeof none>(
  declared: Plugin<T, N, S>,
): Plugin<T, N, S> => declared

/** Settings that do not fit their plugin. The message names the first fault. */
export class WrongSettings extends Error {
  readonly issues: readonly v.BaseIssue<unknown>[]

  constructor(name: string, issues: readonly [v.BaseIssue<unknown>, ...v.BaseIssue<unknown>[]]) {
    super(`${name}: ${flaw(issues[0])}`)
    this.name = 'WrongSettings'
    this.issues = issues
  }
}

/** The settings of a plugin as an operator writes them; a plugin without settings takes an empty object. */
type Given<S extends v.GenericSchema> =
  unknown extends v.InferInput<S>
    ? object
    : keyof v.InferInput<S> extends never
      ? Readonly<Record<string, never>>
      : v.InferInput<S>

type Arguments<S extends v.GenericSchema> =
  {} extends v.InferInput<S> ? [settings?: Given<S>, name?: string] : [settings: Given<S>, name?: string]

/**
 * Checks the settings now, so that a wrong configuration stops the boot and never a request. The part is looked at when
 * it is made.
 */
export const use = <T, N extends Needs, S extends v.GenericSchema>(
  declared: Plugin<T, N, S>,
  ...[settings = {} as Given<S>, name = declared.name]: Arguments<S>
): Fitting<T> => {
  const checked = v.safeParse(declared.settings ?? none, settings)
  if (!checked.success) throw new WrongSettings(name, checked.issues)
  return {
    port: declared.port,
    name,
    ...(declared.renewed === true && { renewed: true }),
    ...(declared.needs !== undefined && { needs: Object.values(declared.needs) }),
    ...(declared.sections !== undefined && { sections: declared.sections }),
    make: (supply) => {
      const part = declared.create(supply((declared.needs ?? {}) as N), checked.output as v.InferOutput<S>, name)
      const fault = misfitOf(part, declared.port)
      if (fault !== null) throw new Error(`${name}: ${fault}`)
      return part
    },
  }
}

const kinds: Readonly<Record<string, (member: unknown) => boolean>> = {
  text: (member) => typeof member === 'string' && member !== '',
  function: (member) => typeof member === 'function',
  list: Array.isArray,
  schema: (member) => typeof member === 'object' && member !== null && 'kind' in member && member.kind === 'schema',
}

const fits = (member: unknown, wanted: Members[string]): boolean =>
  typeof wanted === 'string' ? kinds[wanted]?.(member) === true : wanted.includes(member as string)

/** What a made part lacks of its port; null when it lacks nothing. */
const misfitOf = (part: unknown, { name, members }: Port<unknown>): string | null => {
  if (part instanceof Promise) return `create gives a promise; expected the ${name} itself`
  const required = Object.entries(members)
  if (required.length === 0) return null
  if (typeof part !== 'object' || part === null) return `create gives no ${name}; expected an object`
  const wrong = required.find(([member, wanted]) => !fits((part as Members)[member], wanted))
  if (wrong === undefined) return null
  const [member, wanted] = wrong
  const form = typeof wanted === 'string' ? wordsOf[wanted] : `one of ${wanted.join(', ')}`
  return `${member} of its ${name} ${(part as Members)[member] === undefined ? 'is missing' : 'is wrong'}; expected ${form}`
}

const wordsOf = { text: 'a text', function: 'a function', list: 'a list', schema: 'a schema of valibot' } as const

/** The path of a wrong value and the expectation; never the value itself, which may be a secret. */
export const flaw = (issue: v.BaseIssue<unknown>): string => {
  const path = v.getDotPath(issue)
  return path ? `${path} ${wrongOf(issue)}` : wrongOf(issue)
}

/** A check by a function or a pattern says in its message what it wants. */
const wrongOf = ({ expected, type, message, input, requirement }: v.BaseIssue<unknown>): string => {
  if (expected === 'never') return 'is not a known setting'
  if (input === undefined && /object$/.test(type)) return 'is missing'
  const isOwn = !message.startsWith('Invalid')
  if (expected === null || requirement instanceof RegExp) return `expected ${isOwn ? message : 'another form'}`
  const words = plainWords[expected] ?? choiceOf(expected)
  return `expected ${/length$/.test(type) ? `${bound(words)} entries` : bound(words)}`
}

/** The words of the library for what a person writes into a file. */
const plainWords: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  Array: 'a list',
  Object: 'an object',
}

/** `one of a, b or an object` for `(("a" | "b") | Object)`; any other expectation as it stands. */
const choiceOf = (expected: string): string => {
  const listed = expected.replace(/\(("[^"]*"(?: \| "[^"]*")*)\)/g, (_, options: string) => {
    return `one of ${options.replaceAll('"', '').replaceAll(' | ', ', ')}`
  })
  if (listed === expected) return expected
  const options = listed.replace(/^\((.*)\)$/, '$1').split(' | ')
  return options.map((option) => plainWords[option] ?? option).join(' or ')
}

const bounds = { '>=': 'or more', '<=': 'or less' } as const

/** `5 or more` for `>=5`, and `more than 5` for `>5`. */
const bound = (text: string): string =>
  text
    .replace(/^(>=|<=)(.+)$/, (_, sign: keyof typeof bounds, number: string) => `${number} ${bounds[sign]}`)
    .replace(/^>(.+)$/, 'more than $1')
    .replace(/^<(.+)$/, 'less than $1')

/** A plugin met at run time. */
export type AnyPlugin = Plugin<unknown, Needs, v.GenericSchema>

/**
 * Whether a module that the operator named gives a plugin. Only the shape is looked at, and `use` checks the
 * settings.
 */
export const isPlugin = (value: unknown): value is AnyPlugin =>
  typeof value === 'object' &&
  value !== null &&
  'port' in value &&
  'name' in value &&
  'create' in value &&
  typeof value.create === 'function'

/**
 * Code that is loaded when a caller first needs it. Callers at once share one load. A load that fails is a fault of the
 * installation, and the next caller loads anew.
 */
export const lazy = <T>(load: () => Promise<T>): (() => Promise<T>) => {
  let loaded: Promise<T> | null = null
  return () =>
    (loaded ??= load().catch((cause: unknown) => {
      loaded = null
      throw new Unavailable(undefined, { cause })
    }))
}
