import type { JsonSchema } from '../../../core/ports/chapter.ts'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly example?: unknown
}

interface Content {
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

interface Shown {
  readonly security?: readonly unknown[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> }
  readonly responses?: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>
}

/** A word of a shell that stands for itself. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const addressOf = (path: string, parameters: readonly Parameter[]): string => {
  const shown = (place: string) => parameters.filter((parameter) => parameter.in === place && parameter.example !== undefined)
  const filled = shown('path').reduce((path, { name, example }) => path.replace(`{${name}}`, String(example)), path)
  const query = shown('query').map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`)
  return `"$SEALGATE_URL${filled}${query.length > 0 ? `?${query.join('&')}` : ''}"`
}

const fieldOf = ([name, value]: readonly [string, string]): string => `-F ${quoted(`${name}=${value}`)}`

const bodyOf = (content: Readonly<Record<string, Content>>): readonly string[] => {
  const { 'application/json': json, 'multipart/form-data': form } = content
  const value = json?.example ?? Object.values(json?.examples ?? {})[0]?.value
  if (value !== undefined)
    return ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(value, null, 2))}`]
  return Object.entries((form?.example ?? {}) as Readonly<Record<string, string>>).map(fieldOf)
}

/** Bytes that a terminal should not get. */
const isBinary = ({ responses = {} }: Shown): boolean => {
  const types = Object.keys(responses['200']?.content ?? {})
  return types.some((type) => /^(audio\/|application\/octet-stream)/.test(type)) && !types.includes('application/json')
}

const methodOf = (method: string, hasBody: boolean): string =>
  method === 'HEAD' ? ' --head' : method === 'GET' || (method === 'POST' && hasBody) ? '' : ` -X ${method}`

/** The call of an operation as a line of a shell, by its examples. */
export const curlOf = (method: string, path: string, operation: JsonSchema): string => {
  const shown = operation as Shown
  const body = shown.requestBody ? bodyOf(shown.requestBody.content) : []
  return [
    `curl${methodOf(method, body.length > 0)} ${addressOf(path, shown.parameters ?? [])}`,
    ...((shown.security ?? []).length > 0 ? ['-H "Authorization: Bearer $SEALGATE_KEY"'] : []),
    ...body,
    ...(isBinary(shown) ? ['--output answer'] : []),
  ].join(' \\\n  ')
}
