import { BadRequest } from '../../../../core/errors.ts'
import type { JsonObject } from '../../../../core/dialects/json-object.ts'

/** In characters: the part of a refused name that the error repeats. */
const mostNameCharacters = 64

/** Throws BadRequest for a beta whose name the operator refuses; a star at the end of a refused name stands for any rest. */
export const refuseBetas = (headers: JsonObject, refused: readonly string[]): void => {
  const value = headers['anthropic-beta']
  if (refused.length === 0 || typeof value !== 'string') return
  const found = value
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .find((name) => refused.some((word) => isNamed(name, word.toLowerCase())))
  if (found === undefined) return
  throw new BadRequest('The operator refuses a beta', {
    code: 'beta_refused',
    told: found.slice(0, mostNameCharacters),
  })
}

const isNamed = (name: string, refused: string): boolean =>
  refused.endsWith('*') ? name.startsWith(refused.slice(0, -1)) : name === refused
