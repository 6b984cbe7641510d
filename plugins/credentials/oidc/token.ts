type Members = Readonly<Record<string, unknown>>

/** What a JSON web token says of itself; nothing of it is proved. */
export interface UnprovedToken {
  readonly header: Members
  readonly claims: Members
}

/** Characters of a token; a longer one is not looked at. */
const mostCharacters = 8_192
const shape = /^([\w-]+)\.([\w-]+)\.[\w-]*$/

/** Whether a credential is meant as a token; no key has dots. */
export const isToken = (credential: string): boolean => shape.test(credential)

const decoded = (part: string): Members | null => {
  try {
    const members: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return typeof members === 'object' && members !== null && !Array.isArray(members) ? (members as Members) : null
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
export const claimAt = (claims: Members, name: string): unknown => {
  if (Object.hasOwn(claims, name)) return claims[name]
  return name.split('.').reduce<unknown>((there, step) => {
    const isThere = typeof there === 'object' && there !== null && Object.hasOwn(there, step)
    return isThere ? (there as Members)[step] : undefined
  }, claims)
}
