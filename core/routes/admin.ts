import * as v from 'valibot'
import { scopes } from '../access/caller.ts'
import { type KeyRow, Keyring } from '../access/keyring.ts'
import { BadRequest, Forbidden, NotFound } from '../errors.ts'
import { data } from '../http/reply.ts'
import { route } from '../http/route.ts'
import { Clock } from '../ports/host.ts'
import { OwnLimits } from '../settings.ts'
import { page } from './page.ts'

const newKey = v.strictObject({
  name: v.optional(v.pipe(v.string(), v.maxLength(200)), ''),
  user: v.optional(v.pipe(v.string(), v.regex(/^[\w.@-]{1,128}$/))),
  mode: v.optional(v.picklist(['live', 'test']), 'live'),
  scopes: v.optional(v.array(v.picklist(scopes))),
  models: v.optional(v.nullable(v.array(v.pipe(v.string(), v.maxLength(256))))),
  addresses: v.optional(v.nullable(v.array(v.string()))),
  limits: v.optional(OwnLimits),
  /** Unix time in ms. */
  expires_at: v.optional(v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0)))),
})

const described = v.object({
  id: v.string(),
  name: v.string(),
  organization: v.string(),
  user: v.string(),
  mode: v.picklist(['live', 'test']),
  scopes: v.array(v.picklist(scopes)),
  hint: v.string(),
  created_at: v.number(),
  expires_at: v.nullable(v.number()),
  revoked_at: v.nullable(v.number()),
})

const create = route({
  method: 'POST',
  path: '/admin/keys',
  summary: 'Makes a key in the caller’s organisation. The answer is the only place where it can be read.',
  access: { scope: 'api_key.create' },
  body: { read: 'json', schema: newKey, bytes: 64 * 1024 },
  answer: v.object({ ...described.entries, key: v.string() }),
  needs: { keyring: Keyring, clock: Clock },
  async handle({ input, caller }, { keyring, clock }) {
    const wanted = input.scopes ?? caller.scopes
    if (wanted.some((scope) => !caller.scopes.includes(scope))) {
      throw new Forbidden('A key cannot be given scopes that its maker lacks')
    }
    if (input.expires_at != null && input.expires_at <= clock.now()) {
      throw new BadRequest('Validation failed', { validator: { expires_at: 'Expected a time to come' } })
    }
    const { user, limits, models, addresses, expires_at } = input
    const { credential, row } = await keyring.create({
      name: input.name,
      mode: input.mode,
      organization: caller.organization,
      user: user ?? caller.user,
      scopes: wanted,
      models: models === undefined ? caller.models : within(models, caller.models),
      addresses: addresses ?? null,
      limits: defined(limits ?? {}),
      expires_at: expires_at ?? null,
    })
    return data({ ...row, key: credential }, 'Key created; it is shown only here', 201)
  },
})

const list = route({
  method: 'GET',
  path: '/admin/keys',
  summary: 'Lists the keys of the caller’s organisation, newest first.',
  access: { scope: 'api_key.read' },
  query: v.strictObject(page),
  answer: v.object({ keys: v.array(described) }),
  needs: { keyring: Keyring },
  async handle({ caller, query: { limit, offset } }, { keyring }) {
    const { rows, total } = await keyring.list(caller.organization, limit, offset)
    const pagination = { limit, offset, total, has_more: offset + rows.length < total }
    return data({ keys: rows, pagination })
  },
})

const revoke = route({
  method: 'DELETE',
  path: '/admin/keys/{id}',
  summary: 'Revokes a key; it is refused everywhere within five seconds.',
  access: { scope: 'api_key.delete' },
  needs: { keyring: Keyring },
  async handle({ caller, params }, { keyring }) {
    if (!(await keyring.revoke(params['id']!, caller.organization))) throw new NotFound('No such key')
    return data({ id: params['id'] }, 'Key revoked')
  },
})

/** A key may reach no model that its maker cannot. */
const within = (models: readonly string[] | null, own: readonly string[] | null): readonly string[] | null => {
  if (own === null) return models
  if (models === null || models.some((model) => !own.includes(model))) {
    throw new Forbidden('A key cannot be given models that its maker lacks')
  }
  return models
}

const defined = <T extends object>(it: T) =>
  Object.fromEntries(Object.entries(it).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }

export const admin = [create, list, revoke] as const
