import * as v from 'valibot'
import type { Fitting, Needs, Port, Supplied } from './container.ts'

/** One outside thing, spoken to through one port. */
export interface Plugin<T, N extends Needs, S extends v.GenericSchema> {
  /** Which socket it fits. */
  readonly port: Port<T>
  /** How the API and the configuration call it; equal to the file name. */
  readonly name: string
  /** The only place that knows this plugin's settings. */
  readonly settings?: S
  /** Other ports it uses. */
  readonly needs?: N
  create(supplied: Supplied<N>, settings: v.InferOutput<S>, name: string): T
}

const none = v.strictObject({})

/** Declares a plugin; the types of what it is supplied with and of its settings follow from the declaration. */
export const plugin = <T, N extends Needs = {}, S extends v.GenericSchema = typeof none>(
  it: Plugin<T, N, S>,
): Plugin<T, N, S> => it

/** Checks the settings now, so that a wrong configuration stops the boot and never a request. */
export const use = <T, N extends Needs, S extends v.GenericSchema>(
  it: Plugin<T, N, S>,
  settings: v.InferInput<S> | {} = {},
  name = it.name,
): Fitting<T> => {
  const checked = v.safeParse(it.settings ?? none, settings)
  if (!checked.success) throw new Error(`${name}: ${flaw(checked.issues[0])}`)
  return {
    port: it.port,
    name,
    make: (supply) => it.create(supply((it.needs ?? {}) as N), checked.output as v.InferOutput<S>, name),
  }
}

/** The path of a wrong value and the expectation; never the value itself, which may be a secret. */
export const flaw = (issue: v.BaseIssue<unknown>): string => {
  const path = v.getDotPath(issue)
  const wrong = issue.expected === 'never' ? 'is not a known setting' : `expected ${issue.expected ?? issue.type}`
  return path ? `${path} ${wrong}` : wrong
}

/** A plugin met at run time. */
export type AnyPlugin = Plugin<unknown, Needs, v.GenericSchema>

/**
 * Whether a module that the operator named gives a plugin. Only the shape is looked at, and `use` checks the
 * settings.
 */
export const isPlugin = (it: unknown): it is AnyPlugin =>
  typeof it === 'object' &&
  it !== null &&
  'port' in it &&
  'name' in it &&
  'create' in it &&
  typeof it.create === 'function'
