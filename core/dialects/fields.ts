import { BadRequest } from '../errors.ts'

export type Fields = Readonly<Record<string, unknown>>

/** Throws BadRequest that names a member and the value that was expected there. */
export const flawed = (path: string, expected: string, code: string | null = null): never => {
  throw new BadRequest('Validation failed', { validator: { [path.slice(0, 100)]: expected }, code })
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const textIn = (fields: Fields, name: string, path: string): string => {
  const value = fields[name]
  return typeof value === 'string' ? value : flawed(`${path}.${name}`, 'Expected string')
}

/** An absent member is empty. */
export const fieldsIn = (fields: Fields, name: string, path: string): Fields => {
  const value = fields[name] ?? {}
  return isFields(value) ? value : flawed(`${path}.${name}`, 'Expected Object')
}

/** Items of a list that no schema bounds. */
const most = 10_000

/** An absent member is empty. */
export const listIn = (fields: Fields, name: string, path: string): readonly Fields[] => {
  const value = fields[name] ?? []
  if (!Array.isArray(value)) return flawed(`${path}.${name}`, 'Expected Array')
  if (value.length > most) return flawed(`${path}.${name}`, `Expected ${most} items at most`)
  for (const [at, item] of value.entries()) if (!isFields(item)) flawed(`${path}.${name}.${at}`, 'Expected Object')
  return value as readonly Fields[]
}

/** Whether a member of this name stands anywhere in the value, except under a name in `free`. */
export const holds = (value: unknown, name: string, free: ReadonlySet<string>): boolean => {
  if (Array.isArray(value)) return value.some((item) => holds(item, name, free))
  if (!isFields(value)) return false
  return Object.entries(value).some(([its, inner]) => its === name || (!free.has(its) && holds(inner, name, free)))
}

/** Refuses a reference to a vendor's store: all callers of one provider key would share it. */
export const stateless = (path: string): never =>
  flawed(path, 'Expected none: nothing is stored here, so send all content itself', 'state_not_supported')
