// Half a character has no bytes of its own: in ids it is written as a U+0001 and its code, and so is U+0001.
export const encodeText = (text: string): string =>
  text.replace(/[\u0001\p{Cs}]/gu, (it) => `\u0001${it.charCodeAt(0).toString(16)}`)

export const decodeText = (text: string): string =>
  text.replace(/\u0001(1|d[\da-f]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

/** A value as text without U+0000 that sorts as values do: nothing before numbers before text. */
export const sortKey = (value: unknown): string => {
  if (value === null || value === undefined) return '\u0001'
  if (typeof value === 'string') return `\u0004${encodeText(value).replaceAll('\0', '\u00010')}`
  if (typeof value !== 'number') return `\u0002${JSON.stringify(value)}`
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value || 0)
  return `\u0003${value < 0 ? 0 : 1}${Buffer.from(value < 0 ? bytes.map((byte) => ~byte) : bytes).toString('hex')}`
}
