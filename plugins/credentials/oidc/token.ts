import { isJsonObject, type JsonObject } from '../../../core/dialects/json-object.ts'

/** What a JSON web token says of itself; nothing of it is proved. */
export interface UnprovedToken {
  readonly header: JsonObject
  readonly claims: JsonObject
}

/** Characters of a token; a longer one is not looked at. */
const mostCharacters = 8_192
const shape = /^([\w-]+)\.([\w-]+)\.[\w-]*$/

/** Whether a credential is meant as a token; no key has dots. */
export const isToken = (credential: string): boolean => shape.test(credential)

const decoded = (part: string): JsonObject | null => {
  try {
    const members: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return isJsonObject(members) ? members : null
  } catch {
    // Text that is no JSON is no token, and nothing else is known of it.
    return null
  }
}

/** Null for what is too long, or is no token. */
export const readToken = (token: string): UnprovedToken | null => {
  if (token.length > mostCharacters) return null
  const [, head = '', body = ''] = shape.exec(token) ?? []
  const header = decoded(head)
  const claims = header && decoded(body)
  return header && claims && { header, claims }
}

/** The claim of this name, or else the one at this path of dots; undefined where there is none. */
export const claimAt = (claims: JsonObject, name: string): unknown => {
  if (Object.hasOwn(claims, name)) return claims[name]
  return name.split('.').reduce<unknown>((there, step) => {
    const isThere = typeof there === 'object' && there !== null && Object.hasOwn(there, step)
    return isThere ? (there as JsonObject)[step] : undefined
  }, claims)
}
