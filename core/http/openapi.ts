import { toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import { scopes } from '../access/caller.ts'
import type { Settings } from '../settings.ts'
import { type AnyRoute, type Body, keyless } from './route.ts'

type Schema = Readonly<Record<string, unknown>>

export const interfaceVersion = '1.0.0'

/** The interface as OpenAPI 3.1, from the routes themselves. */
export const openapi = (routes: readonly AnyRoute[], settings: Settings) => {
  const paths: Record<string, Record<string, Schema>> = {}
  for (const route of routes) {
    const path = named(route.path, settings)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) }
  }
  const dashboard = settings.dashboardUrl === undefined ? '' : ` Keys are made at ${settings.dashboardUrl}.`
  return {
    openapi: '3.1.0',
    info: {
      title: 'sealgate',
      version: interfaceVersion,
      description: `A confidential AI gateway: inference, tools and encrypted files.${dashboard}`,
    },
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        apiKey: { type: 'apiKey', in: 'header', name: 'Authorization' },
      },
      schemas: { Error: envelopeOf({ type: ['object', 'array', 'null'] }) },
    },
    'x-scopes': scopes,
  }
}

/** The path as it is served: the families under their configured names. */
export const named = (path: string, { names }: Settings): string =>
  path.replace(/^\/(compat|std|v1)(?=\/)/, (_, family: keyof typeof names) => `/${names[family]}`)

const operation = (route: AnyRoute): Schema => {
  const parameters = [
    ...[...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    })),
    ...queryOf(route),
  ]
  const { scope, operators } = typeof route.access === 'object' ? route.access : {}
  return {
    summary: route.summary,
    operationId: `${route.method.toLowerCase()} ${route.path}`.replace(/[^A-Za-z0-9]+(\w?)/g, (_, next: string) =>
      next.toUpperCase(),
    ),
    ...(keyless(route.access) ? { security: [] } : { security: [{ bearer: [] }, { apiKey: [] }] }),
    ...(scope && { 'x-scope': scope }),
    ...(operators && { 'x-operators': true }),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && {
      requestBody: { required: true, content: contentOf(route.body) },
    }),
    responses: {
      [route.status ?? 200]: {
        description: 'Success',
        ...(route.answer && { content: { 'application/json': { schema: schemaOf(route.answer) } } }),
      },
      default: {
        description: 'What went wrong',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
      ...Object.fromEntries(
        Object.entries(route.faults ?? {}).map(([status, schema]) => [
          status,
          { description: 'What went wrong', content: { 'application/json': { schema: schemaOf(schema) } } },
        ]),
      ),
    },
  }
}

const contentOf = (body: Body): Schema => {
  const whole = { schema: schemaOf(body.schema) }
  if (body.read === 'form') return { 'multipart/form-data': whole }
  const form = body.read === 'stream' && body.form !== undefined ? schemaOf(body.form) : null
  return { 'application/json': whole, ...(form && { 'multipart/form-data': { schema: form } }) }
}

const queryOf = (route: AnyRoute): readonly Schema[] => {
  if (!route.query) return []
  const { properties = {}, required = [] } = schemaOf(route.query) as {
    properties?: Record<string, Schema>
    required?: readonly string[]
  }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
}

export const schemaOf = (schema: GenericSchema): Schema => {
  const { $schema: _, ...rest } = toJsonSchema(schema as never, { errorMode: 'ignore', typeMode: 'input' }) as Record<
    string,
    unknown
  >
  return rest
}

const envelopeOf = (data: Schema): Schema => ({
  type: 'object',
  required: ['status', 'error', 'message', 'env', 'log', 'support_id'],
  properties: {
    status: { type: 'integer' },
    data,
    error: { type: ['string', 'null'] },
    message: { type: ['string', 'null'] },
    env: { type: 'string', enum: ['development', 'production'] },
    log: { type: ['string', 'object', 'null'] },
    validator: { type: ['object', 'array', 'null'] },
    support_id: { type: ['string', 'null'], format: 'uuid' },
  },
})
