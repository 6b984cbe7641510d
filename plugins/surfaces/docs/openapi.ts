import { scopes } from '../../../core/access/caller.ts'
import type { Settings } from '../../../core/settings.ts'
import { interfaceVersion } from '../shared/interface-version.ts'
import { namedPath, type AnyRoute } from '../../../core/http/route.ts'
import { headers } from './openapi-errors.ts'
import { type Described, operationOf } from './openapi-operation.ts'
import type { Chapter, JsonSchema, Reference } from '../../../core/ports/chapter.ts'
import { described, sentenceFor } from '../shared/described.ts'
import { eachInTurn } from './each-in-turn.ts'
import { dashboardUrl } from './settings.ts'

/** The part of an OpenAPI document that the gateway itself reads again for its page. */
export interface Document {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>
}

/** Routes that the reference does not know, such as those of an embedder. */
const others = {
  name: 'Other routes',
  about: 'Routes that this gateway has beside its own.',
  words: {},
  operations: {},
}

/** The interface as OpenAPI 3.1, from the routes and the words of the reference; each route is described in a turn of the loop. */
export const openapi = async (
  routes: readonly AnyRoute[],
  settings: Settings,
  reference: Reference,
): Promise<Document> => {
  const responses: Record<string, JsonSchema> = {}
  const share = (name: string, response: JsonSchema): JsonSchema => {
    responses[name] ??= response
    return { $ref: `#/components/responses/${name}` }
  }
  const paths: Record<string, Record<string, JsonSchema>> = {}
  const all = routes.map((route) => describe(route, reference))
  await eachInTurn(all, (described) => {
    const path = namedPath(described.route.path, settings)
    paths[path] = { ...paths[path], [described.route.method.toLowerCase()]: operationOf(described, share) }
  })
  const chapters = [...reference.chapters, others].filter((chapter) => all.some((described) => described.chapter === chapter))
  return {
    openapi: '3.1.0',
    info: { title: 'sealgate', version: interfaceVersion, description: aboutOf(dashboardUrl.of(settings)) },
    ...{ servers: [{ url: settings.prefix || '/', description: 'This gateway.' }] },
    tags: tagsOf(chapters),
    paths,
    components: {
      securitySchemes: { ...securitySchemes, ...keyHeadersOf(routes) },
      headers,
      responses,
      schemas: { Error: errorOf(reference), ...Object.assign({}, ...chapters.map(schemasOf)) },
    },
    ...{ 'x-scopes': scopes },
  }
}

/** Chapters of one name, such as those of public dialects, are one tag in the words of the first. */
const tagsOf = (chapters: readonly Pick<Chapter, 'name' | 'about'>[]): Document['tags'] =>
  chapters
    .filter(({ name }, at) => chapters.findIndex((other) => other.name === name) === at)
    .map(({ name, about }) => ({ name, description: about }))

const aboutOf = (dashboard: string | undefined): string =>
  'A confidential AI gateway: inference, tools and encrypted files. A key goes into the header `Authorization` as ' +
  '`Bearer sk_live_…`. Answers in the envelope have their content in `data`; errors have the same members.' +
  (dashboard === undefined ? '' : ` Keys are made at ${dashboard}.`)

const describe = (route: AnyRoute, { chapters, words }: Reference): Described => {
  const name = `${route.method} ${route.path}`
  const chapter = chapters.find(({ operations }) => Object.hasOwn(operations, name)) ?? others
  const operation = (chapter as Reference['chapters'][number]).operations[name] ?? {}
  return { route, chapter, operation, tables: [operation.words ?? {}, chapter.words, words] }
}

const schemasOf = ({
  operations,
  schemas = {},
}: Reference['chapters'][number]): Readonly<Record<string, JsonSchema>> => ({
  ...schemas,
  ...Object.fromEntries(
    Object.values(operations).flatMap(({ variants = {} }) =>
      Object.entries(variants).map(([name, { about, schema }]) => [name, { description: about, ...schema }]),
    ),
  ),
})

/** Headers of keys as schemes of their own, which routes name. */
const keyHeadersOf = (routes: readonly AnyRoute[]): Readonly<Record<string, JsonSchema>> =>
  Object.fromEntries(
    routes
      .flatMap(({ keyHeaders = [] }) => keyHeaders)
      .map((name) => [
        name,
        { type: 'apiKey', in: 'header', name, description: 'The same key, where clients of a public dialect put it.' },
      ]),
  )

const securitySchemes: Readonly<Record<string, JsonSchema>> = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'An API key that begins with `sk_live_` or `sk_test_`, behind the word `Bearer`.',
  },
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'The same header, for tools that know no other scheme: `Bearer` and the key.',
  },
}

/** The schema of errors in the envelope. */
const errorOf = ({ words }: Reference): JsonSchema => ({
  ...described(
    {
      type: 'object',
      required: ['status', 'error', 'message', 'env', 'log', 'support_id'],
      properties: {
        status: { type: 'integer' },
        data: { type: ['object', 'array', 'null'] },
        error: { type: ['string', 'null'] },
        message: { type: ['string', 'null'] },
        env: { type: 'string', enum: ['development', 'production'] },
        log: { type: ['string', 'object', 'null'] },
        validator: { type: ['object', 'array', 'null'] },
        support_id: { type: ['string', 'null'], format: 'uuid' },
      },
    },
    ['fault'],
    [words],
  ),
  description: sentenceFor(['Error'], [words]) ?? '',
})
