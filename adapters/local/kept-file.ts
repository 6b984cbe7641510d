import { readFile } from 'node:fs/promises'

/** The members of a JSON object in a file, with or without a byte order mark. `name` says in errors which file; an error never quotes the content. */
export const keptFile = async (file: string, name: string): Promise<Readonly<Record<string, unknown>>> => {
  const value = parsed(await readFile(file, 'utf8'))
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${name} holds no JSON object`)
  return value as Readonly<Record<string, unknown>>
}

/** Undefined for a text that is no JSON. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch {
    return undefined
  }
}
