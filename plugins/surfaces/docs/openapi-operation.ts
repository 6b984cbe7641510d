import { tagHeader } from '../../../core/access/tags.ts'
import { schemaOf } from '../shared/json-schema.ts'
import { exampleOf, headersOf, sampleOf, statusesOf } from './openapi-errors.ts'
import type { Chapter, JsonSchema, Operation, Sentences } from '../../../core/ports/chapter.ts'
import { described } from '../shared/described.ts'
import { type AnyRoute, type Body, isKeyless } from '../../../core/http/route.ts'

/** A route with what the reference says of it. */
export interface Described {
  readonly route: AnyRoute
  readonly chapter: Chapter
  readonly operation: Operation
  /** The tables of sentences, the nearest first. */
  readonly tables: readonly Sentences[]
}

/** Puts a response among the shared ones, and gives the reference to it. */
export type ShareResponse = (name: string, response: JsonSchema) => JsonSchema

const json = 'application/json'

/** One operation of the document. Members without content are left out. */
export const operationOf = (described: Described, share: ShareResponse): JsonSchema => {
  const { route, chapter, operation } = described
  const parameters = [...pathOf(described), ...queryOf(described), ...asksOf(described)]
  const { scope, operators } = typeof route.access === 'object' ? route.access : {}
  return {
    tags: [chapter.name],
    summary: route.summary,
    description: [operation.about, accessOf(route)].filter(Boolean).join(' '),
    operationId: idOf(route),
    security: securityOf(route),
    ...(scope && { 'x-scope': scope }),
    ...(operators && { 'x-operators': true }),
    ...operation.more,
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && { requestBody: { required: true, content: bodiesOf(described, route.body) } }),
    responses: { ...(isRefused(described) ? {} : successOf(described)), ...emptyOf(described), ...failuresOf(described, share) },
  }
}

const idOf = ({ method, path }: AnyRoute): string =>
  `${method.toLowerCase()} ${path}`.replace(/[^A-Za-z0-9]+(\w?)/g, (_, next: string) => next.toUpperCase())

/** Who may call, as a sentence. */
const accessOf = ({ access }: AnyRoute): string => {
  if (isKeyless(access)) return 'No key is needed.'
  if (typeof access === 'string') return 'Any key will do.'
  return `The key needs the scope \`${access.scope}\`${access.operators ? ', and is of an operator' : ''}.`
}

/** Without roles, since a scope is the same under every scheme. */
const securityOf = ({ access, keyHeaders = [] }: AnyRoute): readonly JsonSchema[] =>
  isKeyless(access) ? [] : ['bearer', 'apiKey', ...keyHeaders].map((scheme) => ({ [scheme]: [] }))

const worded = (words: string | undefined): JsonSchema => (words === undefined ? {} : { description: words })

const example = (value: unknown): JsonSchema => (value === undefined ? {} : { example: value })

const parametersOf = ({ tables }: Described, place: string, schema: JsonSchema, samples: Sentences = {}) => {
  const whole = described(schema, [place], tables)
  const { properties = {}, required = [] } = whole as {
    readonly properties?: Readonly<Record<string, JsonSchema>>
    readonly required?: readonly string[]
  }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    required: required.includes(name),
    ...worded(description as string | undefined),
    schema,
    ...example(schema['type'] === 'integer' && samples[name] ? Number(samples[name]) : samples[name]),
  }))
}

const pathOf = (described: Described): readonly JsonSchema[] => {
  const names = [...described.route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const of = (name: string) => ({
    type: 'string',
    ...(described.operation.choices?.[name] && { enum: described.operation.choices[name] }),
  })
  const schema = { properties: Object.fromEntries(names.map((name) => [name, of(name)])), required: names }
  return parametersOf(described, 'path', schema, described.operation.path)
}

const queryOf = (described: Described): readonly JsonSchema[] =>
  described.route.query ? parametersOf(described, 'query', schemaOf(described.route.query), described.operation.query) : []

/** Calls whose use is counted may name tags. */
const tagsOf = ({ method, access }: AnyRoute): Sentences =>
  method === 'POST' && typeof access === 'object' && /^(?:chats|audio|tools)\./.test(access.scope)
    ? { [tagHeader]: 'Tags under which the call is counted, in the clear: at most 8 pairs such as `feature=search`.' }
    : {}

const asksOf = ({ route, operation: { asks = {} } }: Described): readonly JsonSchema[] =>
  Object.entries({ ...asks, ...tagsOf(route) }).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  }))

const bodiesOf = (shown: Described, body: Body): JsonSchema => {
  const { operation, tables } = shown
  if (operation.variants) return { [json]: variantsOf(operation.variants) }
  const whole = (schema: Body['schema'], value: unknown) => ({
    schema: described(schemaOf(schema), ['body'], tables),
    ...example(value),
  })
  const form = 'form' in body && body.form ? { 'multipart/form-data': whole(body.form, operation.form) } : {}
  const isForm = body.read === 'form' || (body.read === 'stream' && body.form === body.schema)
  return isForm ? form : { [json]: whole(body.schema, operation.body), ...form }
}

const variantsOf = (variants: NonNullable<Operation['variants']>): JsonSchema => ({
  schema: { anyOf: Object.keys(variants).map((name) => ({ $ref: `#/components/schemas/${name}` })) },
  examples: Object.fromEntries(
    Object.entries(variants).map(([name, { about, example }]) => [name, { summary: about, value: example }]),
  ),
})

const successOf = ({ route, operation, tables }: Described): JsonSchema => {
  const status = route.status ?? 200
  const shape = route.answer ?? operation.shape
  const tells = Object.entries(operation.tells ?? {}).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ])
  const content = {
    ...(shape && {
      [json]: { schema: described(schemaOf(shape), ['answer'], tables), ...example(operation.answer) },
    }),
    ...Object.fromEntries(
      Object.entries(operation.types ?? {}).map(([type, description]) => [
        type,
        { schema: { type: 'string', description } },
      ]),
    ),
  }
  const answer = {
    description: status === 201 ? 'The thing that was made.' : 'The answer.',
    headers: { ...headersOf(status), ...Object.fromEntries(tells) },
    ...(Object.keys(content).length > 0 && { content }),
  }
  return { [status]: answer, ...(operation.asks?.['range'] && { 206: partOf(answer) }) }
}

/** The answer of a route that reads ranges, where the request names one. */
const partOf = (answer: { readonly headers: JsonSchema }): JsonSchema => ({
  ...answer,
  description: 'The range that the request names.',
  headers: {
    ...answer.headers,
    'content-range': { description: 'The range, and the size of the whole.', schema: { type: 'string' } },
  },
})

/** True for a route whose only answers have no body. */
const isRefused = ({ route, operation: { empty, shape, types } }: Described): boolean =>
  empty !== undefined && [route.answer, shape, types].every((schema) => schema === undefined)

/** Answers without a body. */
const emptyOf = ({ operation: { empty = {} } }: Described): JsonSchema =>
  Object.fromEntries(Object.entries(empty).map(([status, description]) => [status, { description, headers: {} }]))

/** The name of the schema of a fault, by its title; without one the schema is the route's alone. */
const titleOf = (schema: JsonSchema, { method, path }: AnyRoute): string =>
  String(schema['title'] ?? `${method}${path.replaceAll(/\W+/g, '-')}-error-`)

const failuresOf = ({ route, operation, tables }: Described, share: ShareResponse): JsonSchema => {
  const { faults } = route
  const failure = (status: number) => {
    const fault = faults?.[status] ?? faults?.['default']
    const own = fault && described(schemaOf(fault), ['fault'], tables)
    const schema = own ?? { $ref: '#/components/schemas/Error' }
    const { status: written, body } = exampleOf(route, status)
    const response = share(`${own ? titleOf(own, route) : 'Error'}${status}`, {
      description: sampleOf(status).about,
      headers: headersOf(status),
      content: { [json]: { schema, example: body } },
    })
    return [written, response] as const
  }
  const statuses = statusesOf(route, operation.statuses ?? [])
  return Object.fromEntries(statuses.map(failure))
}
