import { BadRequest } from '../errors.ts'

/** An object of JSON with unknown members. An array is none. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Throws BadRequest that names a member and the value that was expected there. */
export const refuseMember = (path: string, expected: string, code: string | null = null): never => {
  throw new BadRequest('Validation failed', { validator: { [path.slice(0, 100)]: expected }, code })
}

/** False for null and for arrays, which `typeof` also calls objects. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

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
