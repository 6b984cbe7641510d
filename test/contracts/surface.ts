import { deepEqual, equal, ok } from 'node:assert/strict'
import * as v from 'valibot'
import { BadRequest, Unauthorized, Unavailable } from '../../core/errors.ts'
import { json } from '../../core/http/reply.ts'
import { type AnyRoute, isKeyless, route } from '../../core/http/route.ts'
import type { Surface } from '../../core/ports/surface.ts'
import { SettingsShape } from '../../core/settings.ts'
import { type Contract, proof } from './contract.ts'

/** A surface, and its routes without a key, such as `GET /pigeon`. */
export interface TriedSurface {
  readonly surface: Surface
  readonly open: readonly string[]
}

const settings = v.parse(SettingsShape, {})
const nameOf = ({ method, path }: AnyRoute): string => `${method} ${path}`
const keyless = new Set<unknown>(['anyone', 'unasked'])

/** The most bytes of a body that any route of a surface may read into memory. */
const mostBytes = 128 * 1024 * 1024

const boundOf = ({ body }: AnyRoute): number | null => {
  if (body === undefined || body.read === 'stream') return null
  return typeof body.bytes === 'function' ? body.bytes(settings) : body.bytes
}

const contract = {
  'has a name that a setting can hold': async (fresh) => {
    const { surface } = await fresh()
    ok(/^[a-z][a-z0-9-]{0,31}$/.test(surface.name))
  },
  'says of each route who may call it': async (fresh) => {
    const { surface } = await fresh()
    ok(surface.routes.length > 0)
    for (const { access } of surface.routes)
      ok(
        keyless.has(access) || access === 'any-key' || (typeof access === 'object' && typeof access.scope === 'string'),
      )
  },
  'opens no route without a key but those that are meant to be open': async (fresh) => {
    const { surface, open } = await fresh()
    deepEqual(
      surface.routes
        .filter(({ access }) => isKeyless(access))
        .map(nameOf)
        .sort(),
      [...open].sort(),
    )
  },
  'has one route for each method and path': async (fresh) => {
    const { surface } = await fresh()
    const patterns = surface.routes.map((route) => nameOf(route).replace(/\{\w+\}/g, '{}'))
    equal(new Set(patterns).size, patterns.length)
  },
  'names paths from the root, without a query': async (fresh) => {
    const { surface } = await fresh()
    for (const { path } of surface.routes) ok(/^(?:\/[\w.~:{}-]+)+$/.test(path), path)
  },
  'bounds each body that it reads': async (fresh) => {
    const { surface } = await fresh()
    for (const route of surface.routes) {
      const bound = boundOf(route)
      ok(bound === null || (Number.isInteger(bound) && bound > 0 && bound <= mostBytes))
    }
  },
  'describes each of its routes, and no other': async (fresh) => {
    const { surface } = await fresh()
    const chapters = [await surface.chapter([])].flat()
    for (const { name, about } of chapters) ok(name !== '' && about.endsWith('.'))
    const described = chapters.flatMap(({ operations }) => Object.keys(operations))
    deepEqual(described.sort(), surface.routes.map(nameOf).sort())
    for (const { summary } of surface.routes) ok(/^[A-Z].*\.$/.test(summary), summary)
  },
  'tells an error by its status, and nothing of its cause': async (fresh) => {
    const { surface } = await fresh()
    const about = { env: 'production', id: '01a1fc7c-78dd-71b9-a66b-ea0f67dc77a8' } as const
    const cause = new Error('the secret of the backend')
    for (const { errors } of surface.routes)
      for (const error of [
        new BadRequest('Bad', { cause }),
        new Unauthorized(),
        new Unavailable(undefined, { cause }),
      ]) {
        const told = errors?.(about, error, {})
        if (told === undefined) continue
        // The Messages dialect has a status of its own for backends that are overloaded.
        ok(told.status === error.status || (told.status === 529 && error.status === 503), `${told.status}`)
        ok(!JSON.stringify(told.body).includes('secret'))
      }
  },
  'has the same routes whenever it is looked at': async (fresh) => {
    const { surface } = await fresh()
    const before = surface.routes.map(nameOf)
    await surface.chapter([])
    deepEqual(surface.routes.map(nameOf), before)
  },
} satisfies Contract<TriedSurface>

const fly = route({
  method: 'POST',
  path: '/pigeon/{loft}',
  summary: 'Sends a pigeon.',
  access: { scope: 'chats.completion' },
  body: { read: 'json', schema: v.object({ to: v.string() }), bytes: 1024 },
  errors: (_, { status, message }) => ({ status, body: { message } }),
  needs: {},
  handle: ({ input }) => json({ to: input.to }),
})

const count = route({
  method: 'GET',
  path: '/pigeon',
  summary: 'Counts the pigeons.',
  access: 'anyone',
  needs: {},
  handle: () => json({ pigeons: 2 }),
})

const operations = { 'POST /pigeon/{loft}': {}, 'GET /pigeon': {} }

const pigeon: Surface = {
  name: 'pigeon',
  routes: [fly, count],
  chapter: async () => ({ name: 'Pigeons', about: 'Messages by pigeon.', words: {}, operations }),
}

const right = (): TriedSurface => ({ surface: pigeon, open: ['GET /pigeon'] })
const flying = (change: Partial<AnyRoute>) => () => ({
  surface: { ...pigeon, routes: [{ ...(fly as AnyRoute), ...change }, count] },
})

export const surface = proof<TriedSurface, typeof contract>({
  contract,
  right,
  wrong: {
    'has a name that a setting can hold': () => ({ surface: { ...pigeon, name: './pigeon.js' } }),
    'says of each route who may call it': flying({ access: undefined as never }),
    'opens no route without a key but those that are meant to be open': flying({ access: 'anyone' }),
    'has one route for each method and path': () => ({
      surface: { ...pigeon, routes: [fly, { ...(fly as AnyRoute), path: '/pigeon/{city}' }, count] },
    }),
    'names paths from the root, without a query': flying({ path: '/pigeon/{loft}?fast' }),
    'bounds each body that it reads': flying({ body: { ...fly.body!, bytes: Infinity } as never }),
    'describes each of its routes, and no other': () => ({
      surface: { ...pigeon, routes: [...pigeon.routes, { ...(count as AnyRoute), path: '/pigeon/feathers' }] },
    }),
    'tells an error by its status, and nothing of its cause': flying({
      errors: (_, { status, message, cause }) => ({ status, body: { message, why: String(cause) } }),
    }),
    'has the same routes whenever it is looked at': () => {
      let routes = pigeon.routes
      return {
        surface: {
          ...pigeon,
          get routes() {
            return routes
          },
          chapter: () => {
            routes = [count]
            return pigeon.chapter([])
          },
        },
      }
    },
  },
})
