import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import * as v from 'valibot'
import { memory } from '../adapters/memory/index.ts'
import { describeInterface } from '../plugins/surfaces/docs/api-docs.ts'
import { curlOf } from '../plugins/surfaces/docs/curl.ts'
import { anchorOf } from '../plugins/surfaces/docs/docs-operation.ts'
import { checkedConfig } from '../adapters/production/config/config.ts'
import { ownConfiguration } from '../adapters/production/own-configuration.ts'
import { docsPage } from '../plugins/surfaces/docs/docs-page.ts'
import { openapi } from '../plugins/surfaces/docs/openapi.ts'
import { escapeHtml } from '../plugins/surfaces/docs/page.ts'
import type { Sentences } from '../core/ports/chapter.ts'
import { createGateway } from '../core/gateway.ts'
import { use } from '../core/plugin.ts'
import { referenceOf } from '../plugins/surfaces/docs/documents.ts'
import { SettingsShape } from '../core/settings.ts'
import useLite from '../plugins/providers/use-lite.ts'
import { misfits } from './docs/fits.ts'
import { running, unhurried } from './environments.ts'
import { everyRoute as routes, surfaceChapters } from './every-route.ts'
import { succeeds } from './helpers.ts'

type Schema = Readonly<Record<string, any>>

const run = promisify(execFile)
const gateway = createGateway(memory())
t.teardown(() => gateway.close())
const document = (await (await gateway.fetch(new Request('http://gateway/openapi.json'))).json()) as Schema

const resolve = (ref: string): Schema =>
  ref
    .slice(2)
    .split('/')
    .reduce((schema: Schema, name) => schema[name], document)

interface Operation {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly operation: Schema
}

const operations: readonly Operation[] = Object.entries<Schema>(document['paths']).flatMap(([path, methods]) =>
  Object.entries<Schema>(methods).map(([method, schema]) => ({
    name: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    path,
    operation: schema,
  })),
)

interface Content {
  readonly at: string
  readonly content: Schema
}

/** Every body and every answer, those of errors too. */
const contents: readonly Content[] = operations.flatMap(({ name, operation: schema }) => [
  ...Object.entries<Schema>(schema['requestBody']?.content ?? {}).map(([type, content]) => ({
    at: `${name} body ${type}`,
    content,
  })),
  ...Object.entries<Schema>(schema['responses']).flatMap(([status, response]) =>
    Object.entries<Schema>((response['$ref'] ? resolve(response['$ref']) : response)['content'] ?? {}).map(
      ([type, content]) => ({ at: `${name} ${status} ${type}`, content }),
    ),
  ),
])

/** Properties without a sentence, by their path. */
const silent = (schema: Schema, at: string): readonly string[] => [
  ...Object.entries<Schema>(schema['properties'] ?? {}).flatMap(([name, property]) => [
    ...(typeof property['description'] === 'string' && property['description'] !== '' ? [] : [`${at}.${name}`]),
    ...silent(property, `${at}.${name}`),
  ]),
  ...['anyOf', 'oneOf', 'allOf'].flatMap((name) =>
    ((schema[name] ?? []) as Schema[]).flatMap((schema) => silent(schema, at)),
  ),
  ...['items', 'additionalProperties'].flatMap((name) =>
    typeof schema[name] === 'object' ? silent(schema[name], at) : [],
  ),
]

t.test('answers that a route gives are described', () => {
  const statuses = (method: string, path: string) => document['paths'][path][method].responses as Schema
  const described: readonly (readonly [method: string, path: string, ...statuses: readonly number[]])[] = [
    ['post', '/mcp', 403, 404],
    ['get', '/files/encrypted/{id}/content', 400],
    ['delete', '/console/session', 200],
  ]
  for (const [method, path, ...given] of described)
    for (const status of given) t.ok(statuses(method, path)[status], `${method} ${path} ${status}`)
  t.ok(statuses('delete', '/console/session')[200].content, 'the end of a session has a body')
  return Promise.resolve()
})

t.test('every operation, parameter, property and error has a sentence', (t) => {
  t.ok(operations.length >= 60, `${operations.length} operations`)
  for (const { name, operation: schema } of operations) {
    t.ok(schema['summary'] && schema['description'], `${name} is described: chapter.json beside the routes`)
    t.not(schema['tags'][0], 'Other routes', `${name} stands in a chapter: chapter.json beside the routes`)
    for (const parameter of schema['parameters'] ?? []) t.ok(parameter.description, `${name} ${parameter.name}`)
    const responses = Object.values<Schema>(schema['responses']).map((one) =>
      one['$ref'] ? resolve(one['$ref']) : one,
    )
    for (const { description } of responses as { description?: string }[]) t.ok(description, `${name} answers`)
  }
  for (const tag of document['tags']) t.ok(tag.description, tag.name)
  for (const [name, scheme] of Object.entries<Schema>(document['components'].securitySchemes))
    t.ok(scheme['description'], name)
  const schemas = Object.entries<Schema>(document['components'].schemas)
  t.same(
    [
      ...contents.flatMap(({ at, content }) => silent(content['schema'], at)),
      ...schemas.flatMap(([name, schema]) => [...(schema['description'] ? [] : [name]), ...silent(schema, name)]),
    ],
    [],
    'chapter.json beside the routes has the sentences',
  )
  t.end()
})

t.test('every sentence of the reference describes something', async (t) => {
  const settings = v.parse(SettingsShape, {})
  const reference = referenceOf(surfaceChapters)
  const unused = new Set<string>()
  const watched = (words: Sentences, whose: string): Sentences => {
    for (const key of Object.keys(words)) unused.add(`${whose}: ${key}`)
    return new Proxy(words, {
      get: (words, key: string) => (unused.delete(`${whose}: ${key}`), words[key]),
    })
  }
  const all = [...routes, ...describeInterface(routes, settings, async () => reference)]
  await openapi(all, settings, {
    ...reference,
    words: watched(reference.words, 'shared'),
    chapters: reference.chapters.map((chapter) => ({
      ...chapter,
      words: watched(chapter.words, chapter.name),
      operations: Object.fromEntries(
        Object.entries(chapter.operations).map(([name, operation]) => [
          name,
          {
            ...operation,
            ...(operation.words && {
              words: watched(operation.words, chapter.name === 'Clients of public dialects' ? '' : name),
            }),
          },
        ]),
      ),
    })),
  })
  // Words of a variant, and those that several operations share, are looked up apart.
  t.same(
    [...unused].filter((text) => !/^(: |shared: (enclaveKid|cipherText|nonce)|Tools: )/.test(text)),
    [],
  )
  const names = all.map(({ method, path }) => `${method} ${path}`)
  const kept = reference.chapters.flatMap(({ operations }) => Object.keys(operations))
  t.same(
    kept.filter((name) => !names.includes(name)),
    [],
    'no chapter describes a route that is gone',
  )
  t.equal(new Set(kept).size, kept.length, 'no route stands in two chapters')
})

t.test('every example fits its schema', (t) => {
  let seen = 0
  for (const { at, content } of contents) {
    const examples = [
      ...('example' in content ? [content['example']] : []),
      ...Object.values<Schema>(content['examples'] ?? {}).map(({ value }) => value),
    ]
    for (const example of examples) {
      seen++
      t.same(misfits(example, content['schema'], resolve), [], at)
    }
    if (/json/.test(at) && !/\/openapi\.json|alt=sse|streamGenerate|\/ehbp\//.test(at))
      t.ok(examples.length > 0, `${at} has an example`)
  }
  for (const { name, operation: value } of operations)
    for (const { name: parameter, schema, example } of value['parameters'] ?? []) {
      if (example === undefined) continue
      seen++
      t.same(misfits(example, schema, resolve), [], `${name} ${parameter}`)
    }
  t.ok(seen > 200, `${seen} examples`)
  t.end()
})

t.test('an example that does not fit is found', (t) => {
  const schema = {
    type: 'object',
    required: ['a'],
    properties: { a: { type: 'string', maxLength: 2 }, b: { anyOf: [{ type: 'integer' }, { type: 'null' }] } },
    additionalProperties: false,
  }
  const of = (value: unknown) => misfits(value, schema, resolve).length
  t.equal(of({ a: 'x', b: null }), 0)
  for (const wrong of [{}, { a: 1 }, { a: 'xyz' }, { a: 'x', b: 1.5 }, { a: 'x', c: 1 }, [], null])
    t.ok(of(wrong) > 0, JSON.stringify(wrong))
  t.same(misfits({ a: 1, b: 2 }, { type: 'object', maxProperties: 1 }, resolve), [': out of bounds'])
  t.throws(() => misfits(1, { not: {} }, resolve), 'a word that nobody checks')
  t.end()
})

t.test('the page shows every operation, and its links lead somewhere', async (t) => {
  const answer = await gateway.fetch(new Request('http://gateway/docs'))
  const page = await answer.text()
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
  t.equal(new Set(ids).size, ids.length, 'no id stands twice')
  const links = [...page.matchAll(/ href="#([^"]+)"/g)].map(([, id]) => id)
  t.ok(links.length > 200, `${links.length} links`)
  t.same(
    links.filter((id) => !ids.includes(id)),
    [],
  )
  for (const { name, method, path, operation: schema } of operations) {
    t.ok(page.includes(`id="${anchorOf(method, path)}"`), name)
    t.ok(page.includes(escapeHtml(curlOf(method, path, schema))), `${name} has its curl`)
  }
  t.notMatch(page, /<p[^>]*>[^<]*`/, 'no backtick is left')
  t.notMatch(page, /<script|<link|<img|https?:\/\/(?!127\.0\.0\.1)/)
  t.match(answer.headers.get('content-security-policy'), /default-src 'none'/)
  const { port } = checkedConfig({}, {}).server
  t.ok(page.includes(`export SEALGATE_URL=http://127.0.0.1:${port}\n`), 'its calls go where a gateway listens')
})

t.test('markup in words stays text', async (t) => {
  const mark = '<i onclick=x>"`<b>`'
  const schema = { type: 'object', properties: { [mark]: { type: 'string', description: mark, default: mark } } }
  const content = { 'application/json': { schema, example: { [mark]: mark } } }
  const value = {
    tags: [mark],
    summary: mark,
    description: mark,
    requestBody: { content },
    responses: { 200: { content } },
  }
  const page = await docsPage(
    {
      openapi: '3.1.0',
      info: { title: mark, version: '1', description: mark },
      tags: [{ name: mark, description: mark }],
      paths: { [`/${mark}`]: { get: value } },
      components: {},
    },
    { [mark]: mark },
    mark,
  )
  t.notMatch(page, /<i |<b>`|<b>&/)
  t.match(page, /&#60;i onclick/)
})

t.test('the codes are those of errors.md', async (t) => {
  const page = await readFile('docs/errors.md', 'utf8')
  const [, rows = ''] = /\| code \| status \| what it means \|\n\|-+\|-+\|-+\|\n((?:\|.*\n)+)/.exec(page) ?? []
  const codes = [...rows.matchAll(/^\| `(\w+)`/gm)].map(([, code = '']) => code)
  t.ok(codes.length >= 7)
  t.same(
    codes.filter((code) => referenceOf([]).codes[code] === undefined),
    [],
  )
})

/** Their examples are cut short, or name what only some gateways have. */
const isTaken = ({ path, name }: Operation): boolean =>
  name !== 'GET /v1/responses' &&
  (!/\/rvenc\/(?!keys|attestation|releases|receipts|models)|\/images\/|\/audio\/|^\/tools\/|\{(?:id|hash)\}$|\{id\}\/content|-index$|\/index$|\/admin\/reload|^\/console\/|^\/ehbp\/|\/mcp$|\/moderations$|\/batches(?:\/\{id\}\/\w+)?$|^\/v1\/files$/.test(
    path,
  ) ||
    path === '/v1/models/{model}')

const curl = await succeeds(run('curl', ['--version']))

t.test(
  'the curl of each route does what the reference says',
  { skip: curl ? false : 'there is no curl' },
  async (t) => {
    const source = { env: {}, inEffect: () => ({ written: {}, readAt: 0 }), narrowed: <T>(schema: T) => schema }
    const upstreams = [...(memory().upstreams ?? []), use(useLite)]
    const adapters = { ...memory(), upstreams, parts: [...memory().parts, use(ownConfiguration(source))] }
    const gateway = await running(t, adapters, unhurried)
    const folder = t.testdir({ 'sealed.bin': 'abcd', 'speech.wav': 'x', 'heron.png': 'x' })
    await writeFile(join(folder, '.curlrc'), 'silent\nwrite-out = "\\n%{http_code}"\n')
    const env = { ...process.env, CURL_HOME: folder, SEALGATE_URL: gateway.base, SEALGATE_KEY: gateway.key }
    let taken = 0
    for (const operation of operations) {
      const { name, method, path, operation: described } = operation
      const { stdout } = await run('sh', ['-c', curlOf(method, path, described)], { cwd: folder, env })
      const at = stdout.lastIndexOf('\n')
      const status = stdout.slice(at + 1)
      const response = described['responses'][status]
      t.ok(response !== undefined, `${name} answers with ${status}, which the reference knows`)
      if (!isTaken(operation)) continue
      taken++
      t.match(status, /^20[01]$/, `${name}: ${stdout.slice(0, 300)}`)
      const schema = response?.content?.['application/json']?.schema
      if (schema !== undefined && path !== '/')
        t.same(misfits(JSON.parse(stdout.slice(0, at)), schema, resolve), [], `${name} answers in its schema`)
    }
    t.ok(taken >= 30, `${taken} calls succeed`)
  },
)
