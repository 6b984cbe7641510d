// Half a surrogate pair has no bytes. In ids, it becomes U+0001 and its code, and so does U+0001 itself.
export const encodeText = (text: string): string =>
  text.replace(/[\u0001\p{Cs}]/gu, (letter) => `\u0001${letter.charCodeAt(0).toString(16)}`)

/** The inverse of `encodeText`: half a surrogate pair comes back unchanged. */
export const decodeText = (text: string): string =>
  text.replace(/\u0001(1|d[\da-f]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

/** A sort key without U+0000, in the order of the values: null, numbers, text. */
export const sortKey = (value: unknown): string => {
  if (value === null || value === undefined) return '\u0001'
  if (typeof value === 'string') return `\u0004${encodeText(value).replaceAll('\0', '\u00010')}`
  // Booleans and lists sort by their JSON, between null and the numbers.
  if (typeof value !== 'number') return `\u0002${JSON.stringify(value)}`
  // The bytes of a double sort as its number when the sign leads and negative numbers are inverted.
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value || 0)
  return `\u0003${value < 0 ? 0 : 1}${Buffer.from(value < 0 ? bytes.map((byte) => ~byte) : bytes).toString('hex')}`
}
