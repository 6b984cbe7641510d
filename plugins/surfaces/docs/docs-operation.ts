import { samples } from './openapi-errors.ts'
import { curlOf } from './curl.ts'
import { fieldFrom, fieldsOf, itemOf } from './docs-schema.ts'
import { prose, escapeHtml } from './page.ts'
import type { JsonSchema } from '../../../core/ports/chapter.ts'

export interface Listed {
  readonly method: string
  readonly path: string
  readonly operation: JsonSchema
}

export interface Media {
  readonly schema?: JsonSchema
  readonly example?: unknown
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly description?: string
  readonly schema: JsonSchema
}

interface Response {
  readonly $ref?: string
  readonly content?: Readonly<Record<string, Media>>
}

export interface Shown {
  readonly summary: string
  readonly description: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, Response>>
}

/** How an operation is found within the page. */
export const anchorOf = (method: string, path: string): string =>
  `${method} ${path}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '')

/** JSON in a page, two spaces deep and with its markup escaped. */
export const example = (value: unknown): string =>
  `<pre><code>${escapeHtml(JSON.stringify(value, null, 2))}</code></pre>`

const folded = (title: string, body: string): string =>
  body === '' ? '' : `<details><summary>${title}</summary>${body}</details>`

const parametersOf = (all: readonly Parameter[], place: string, title: string): string => {
  const own = all.filter((parameter) => parameter.in === place)
  const rows = own.map(({ name, schema, required, description }) =>
    itemOf(fieldFrom(name, schema, required, description)),
  )
  return rows.length === 0 ? '' : `<h4>${title}</h4><ul class="fields">${rows.join('')}</ul>`
}

const mediaOf = ([type, { schema = {}, example: shown }]: readonly [string, Media]): string => {
  const words =
    schema['properties'] === undefined && typeof schema['description'] === 'string' ? schema['description'] : ''
  const fields = fieldsOf(schema)
  return (
    `<p><code>${escapeHtml(type)}</code>${words === '' ? '' : ` ${prose(words)}`}</p>${fields}` +
    (shown === undefined ? '' : `<p class="dim">For example:</p>${example(shown)}`)
  )
}

const failuresOf = (responses: Shown['responses']): string => {
  const failures = Object.keys(responses).filter((status) => Number(status) >= 400)
  const linked = (status: string): string =>
    samples[Number(status)] === undefined ? status : `<a href="#status-${status}">${status}</a>`
  const links = failures.map(linked).join(' ')
  return links === '' ? '' : `<p class="failures"><span class="dim">Errors</span> ${links}</p>`
}

/** One operation: what it does, how it is called, what it takes and gives. `variants` are the schemas that its body names. */
export const sectionOf = ({ method, path, operation }: Listed, variants: string): string => {
  const { summary, description, parameters = [], requestBody, responses } = operation as unknown as Shown
  const id = anchorOf(method, path)
  const success = Object.entries(responses).filter(([status]) => Number(status) < 400)
  const body = Object.entries(requestBody?.content ?? {})
    .map(mediaOf)
    .join('')
  const answers = success.flatMap(([, { content = {} }]) => Object.entries(content).map(mediaOf)).join('')
  return (
    `<section class="operation" id="${id}"><h3><a href="#${id}"><b class="${method.toLowerCase()}">${method}</b> ${escapeHtml(path)}</a></h3>` +
    `<p>${prose(summary)}</p><p class="dim">${prose(description)}</p>` +
    `<pre class="call"><code>${escapeHtml(curlOf(method, path, operation))}</code></pre>` +
    parametersOf(parameters, 'path', 'In the path') +
    parametersOf(parameters, 'query', 'In the query') +
    parametersOf(parameters, 'header', 'In the head') +
    folded('Body', body + variants) +
    folded('Answer', answers) +
    `${failuresOf(responses)}</section>`
  )
}
