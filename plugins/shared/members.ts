import { type JsonObject, isJsonObject } from '../../core/dialects/json-object.ts'
import { BadRequest } from '../../core/errors.ts'

/** Throws BadRequest that names a member and the value that was expected there. */
export const refuseMember = (path: string, expected: string, code: string | null = null): never => {
  throw new BadRequest('Validation failed', { validator: { [path.slice(0, 100)]: expected }, code })
}

/** The text of a member. Throws BadRequest for an absent member, and for any other kind. */
export const textIn = (fields: JsonObject, name: string, path: string): string => {
  const value = fields[name]
  return typeof value === 'string' ? value : refuseMember(`${path}.${name}`, 'Expected string')
}

/** An absent member is empty. */
export const objectIn = (fields: JsonObject, name: string, path: string): JsonObject => {
  const value = fields[name] ?? {}
  return isJsonObject(value) ? value : refuseMember(`${path}.${name}`, 'Expected Object')
}

/** Items of a list that no schema bounds. */
const mostItems = 10_000

/** An absent member is empty. */
export const objectsIn = (fields: JsonObject, name: string, path: string): readonly JsonObject[] => {
  const value = fields[name] ?? []
  if (!Array.isArray(value)) return refuseMember(`${path}.${name}`, 'Expected Array')
  if (value.length > mostItems) return refuseMember(`${path}.${name}`, `Expected ${mostItems} items at most`)
  for (const [at, item] of value.entries())
    if (!isJsonObject(item)) refuseMember(`${path}.${name}.${at}`, 'Expected Object')
  return value as readonly JsonObject[]
}

/** Refuses a reference to a vendor's store: all callers of one provider key would share it. */
export const refuseStoredState = (path: string): never =>
  refuseMember(path, 'Expected none: nothing is stored here, so send all content itself', 'state_not_supported')

/** The list with each item changed; the same list, which still knows its text, where no item is. */
export const sameOr = <T>(list: readonly T[], change: (item: T, at: number) => T): readonly T[] => {
  const changed = list.map(change)
  return changed.every((item, at) => item === list[at]) ? list : changed
}

/** The first of these names that a member anywhere in the value has, except under a name in `free`. */
export const memberNamed = (
  value: unknown,
  names: readonly string[],
  free: ReadonlySet<string> = new Set(),
): string | undefined => {
  if (Array.isArray(value)) {
    for (const item of value) {
      const found = memberNamed(item, names, free)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  // No list of members is made: a request may have a hundred thousand.
  for (const name in value) {
    if (names.includes(name)) return name
    const found = free.has(name) ? undefined : memberNamed(value[name as keyof typeof value], names, free)
    if (found !== undefined) return found
  }
  return undefined
}
