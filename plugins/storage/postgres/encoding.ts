/** The characters that count for a text's order; an index has no room for longer texts. */
export const maxKeyCharacters = 200

// PostgreSQL accepts neither U+0000 nor half a surrogate pair. Both, and U+0001, become U+0001 and a code.
export const encodeText = (text: string): string =>
  text.replace(/[\0\u0001\p{Cs}]/gu, (letter) => `\u0001${letter.charCodeAt(0).toString(16)}`)

/** The inverse of `encodeText`. */
export const decodeText = (text: string): string =>
  text.replace(/\u0001([01]|d[\da-f]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

/** JSON with the same encoding of its texts, where these characters stand as escapes. */
export const encodeJson = (value: unknown): string =>
  JSON.stringify(value).replace(/\\(?:u(000[01]|d[\da-f]{3})|.)/g, (all, code?: string) =>
    code ? `\\u0001${code.replace(/^000/, '')}` : all,
  )

/** The value of a stored text, with the characters that `encodeJson` replaced. Throws SyntaxError for other texts. */
export const decodeJson = <T>(json: string): T =>
  JSON.parse(
    json.replace(/\\(?:u0001([01]|d[\da-f]{3})|.)/g, (all, code?: string) =>
      code ? `\\u${code.padStart(4, '0')}` : all,
    ),
  ) as T

/** The sort key of a value, equal to the result of the schema's function `key`. */
export const sortKey = (value: unknown): string => {
  const text = typeof value === 'string' ? `s${encodeText(value)}` : `j${encodeJson(value)}`
  if (typeof value !== 'number') return [...text].slice(0, 1 + maxKeyCharacters).join('')
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value || 0)
  return `n${value < 0 ? 0 : 1}${Buffer.from(value < 0 ? bytes.map((byte) => ~byte) : bytes).toString('hex')}`
}
