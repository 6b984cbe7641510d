import type { Fitting } from '../container.ts'

const isFitting = (part: unknown): part is Fitting<unknown> =>
  typeof part === 'object' && part !== null && 'make' in part && typeof part.make === 'function'

const isBarePlugin = (part: unknown): part is { readonly name: string } =>
  typeof part === 'object' && part !== null && 'create' in part && 'port' in part

/** Throws for a part that is no fitting, with its place and the mend. */
const refuseMisfit = (place: string, part: unknown): void => {
  if (isFitting(part)) return
  if (isBarePlugin(part)) throw new Error(`${place} is a bare plugin; write use(${part.name}, settings) instead`)
  if (part === undefined) throw new Error(`${place} is undefined; leave it out, or give it what use() makes`)
  throw new Error(`${place} expected what use() makes of a plugin`)
}

/** Throws when two backends, or two tools, have one name: requests could name only one of them. */
export const refuseTwins = (place: 'upstreams' | 'tools', parts: readonly { readonly name: string }[]): void => {
  const names = parts.map(({ name }) => name)
  const twin = names.findIndex((name, at) => names.indexOf(name) !== at)
  const mend = place === 'tools' ? 'leave one of them out' : 'use(plugin, settings, name) gives another'
  if (twin >= 0) throw new Error(`${place}.${twin}: ${names[twin]} is the name of two; ${mend}`)
}

/** Members of an environment that are no plugins. */
const plain: ReadonlySet<string> = new Set(['middleware', 'sections', 'settings'])

/** Members without which no generation can be made. */
const needed = ['upstreams', 'catalog', 'meter'] as const

/** Throws for an environment that is none, or in which a part is missing or is no fitting. */
export const refuseMisfits = (parts: unknown): void => {
  if (typeof parts !== 'object' || parts === null)
    throw new Error('createGateway expected the parts of an environment, such as those of memory()')
  for (const name of needed)
    if (!(name in parts))
      throw new Error(`${name} is missing; spread an environment first, such as { ...memory(), upstreams: [] }`)
  for (const [name, part] of Object.entries(parts)) {
    if (plain.has(name) || (name === 'enclave' && typeof part === 'function')) continue
    if (Array.isArray(part)) for (const [at, each] of part.entries()) refuseMisfit(`${name}.${at}`, each)
    else refuseMisfit(name, part)
  }
}
