/** An object of JSON with unknown members. An array is none. */
export type JsonObject = Readonly<Record<string, unknown>>

/** False for null and for arrays, which `typeof` also calls objects. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
