import type { IncomingHttpHeaders, RequestListener, Server } from 'node:http'
import type { StraightCall, StraightEntry } from './straight-call.ts'
import type { GenericSchema, InferOutput } from 'valibot'
import type { Caller, Scope } from '../access/caller.ts'
import type { Needs, Supplied } from '../container.ts'
import type { Pace } from '../dialects/loop-time.ts'
import type { GatewayError } from '../errors.ts'
import type { RequestRecord } from '../ports/observer.ts'
import type { OrderedJson } from '../ports/upstream.ts'
import type { Settings } from '../settings.ts'
import type { About, Reply } from './reply.ts'
import type { Form } from './form.ts'

/**
 * Who may call: a key with this scope, any key, anyone, or anyone without a look at any key. There is no default. What
 * concerns every organisation is for `operators`.
 */
export type Access = { readonly scope: Scope; readonly operators?: true } | 'any-key' | 'anyone' | 'unasked'

/** Whether a request may come without a key. */
export const isKeyless = (access: Access): boolean => access === 'anyone' || access === 'unasked'

/** A number, or how the settings name it. */
export type Bound = number | ((settings: Settings) => number)

/**
 * How the body is read, at most `bytes` of it. `json` is checked by the schema; `relayed` too, and its members can go on as
 * they came, so its schema changes nothing; `ordered` keeps keys in order and is
 * checked by `check` (the schema then only documents); `form` is multipart, its files in memory; a long `sealed` one is handed on
 * as its bytes, since only the enclave looks into it; `stream` is not read at all, and its `form` documents another way to send it.
 */
export type Body<S extends GenericSchema = GenericSchema> =
  | (Bounded & { readonly read: 'json' | 'relayed'; readonly schema: S })
  | (Bounded & { readonly read: 'ordered'; readonly schema: S; check(body: OrderedJson): InferOutput<S> })
  | (Bounded & { readonly read: 'sealed'; readonly schema: S })
  | (Bounded & {
      readonly read: 'form'
      readonly schema: S
      /** Documents the fields under the names by which they are sent. */
      readonly form: GenericSchema
      check(form: Form): InferOutput<S>
    })
  | { readonly read: 'stream'; readonly schema: S; readonly form?: GenericSchema }

/** The body of a sealed request: its fields, or the bytes of its JSON where it is long. */
export type SealedBody = Readonly<Record<string, unknown>> | Uint8Array

/** Of the fields, while the route takes its bytes too. */
export type SealedSchema = GenericSchema<unknown, SealedBody>

interface Bounded {
  readonly bytes: Bound
  /** Oversize is a 413 here; everywhere else it is a 400 that names the limit. */
  readonly tooLarge?: true
}

/** The names in braces of a path. */
type NamesIn<P extends string> = P extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never

/** The parameters of a path; of a path that isn't known here, any. */
export type Params<P extends string> = string extends P
  ? Readonly<Record<string, string>>
  : { readonly [Name in NamesIn<P>]: string }

/** Bytes that one request holds in memory. */
export interface HeldBytes {
  /** Throws TooMany or Unavailable when there is no room for so many bytes more. */
  grow(bytes: number): void
  /** Gives so many of them back. */
  shrink(bytes: number): void
  /** Gives all of them back; there are no more to come. */
  release(): void
}

/** What a handler gets of a request: everything is checked, and nothing leads to the HTTP library. */
export interface Request<Input, Query, Who, Path extends string = string> {
  readonly id: string
  /** Where the meter writes what the request's calls used. */
  readonly record: RequestRecord
  /** The checked body; undefined for `stream` and for routes without one. */
  readonly input: Input
  readonly query: Query
  readonly params: Params<Path>
  readonly caller: Who
  /** Lower-case names. A range is for GET alone, so a HEAD has none. */
  readonly headers: IncomingHttpHeaders
  /** The body as it comes in; empty once `input` was read from it. */
  readonly bytes: AsyncIterable<Uint8Array>
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal
  /** Bytes in memory that the caller pays for until the request ends; null for a route that neither reads a body nor lasts. */
  readonly held: HeldBytes | null
  /** The time of the main loop that the caller pays for. */
  readonly pace: Pace
}

/** How a family of routes renders errors, where the envelope is not the rule. */
export type Render = (about: About, error: GatewayError, headers: IncomingHttpHeaders) => Rendered
type Rendered = { readonly status: number; readonly body: unknown }

export type { StraightCall, StraightEntry } from './straight-call.ts'

/** One path and method. The reference, the limits and the checks follow from these members alone. */
export interface Route<
  N extends Needs = Needs,
  S extends GenericSchema = GenericSchema,
  Q extends GenericSchema = GenericSchema,
  A extends Access = Access,
  P extends string = string,
> {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE'
  /** `{id}` stands for a parameter; `compat`, `std` and `v1` are replaced by the configured names. */
  readonly path: P
  readonly summary: string
  readonly access: A
  /** Headers in which the key may come beside `authorization`, lower-case. */
  readonly keyHeaders?: readonly string[]
  /** What of `authorization` the gateway looks at; all of the header when absent. */
  readonly authorization?: (headers: IncomingHttpHeaders) => string | undefined
  readonly body?: Body<S>
  readonly query?: Q
  /** Documents the answer; what a handler gives back is not checked against it. */
  readonly answer?: GenericSchema
  /** With which it is given; 200 when absent. */
  readonly status?: 201
  /** At most so many of these a second from one address that shows no key; 429 beyond. */
  readonly attempts?: number
  /** At most so many of these at once a key; 429 beyond. */
  readonly places?: { readonly name: string; readonly most: Bound }
  readonly errors?: Render
  /** Documents those errors, by status or as `default`. */
  readonly faults?: Readonly<Record<string, GenericSchema>>
  /** What stands behind the realm in the challenge of a 401; begins with a comma. */
  readonly challenge?: (settings: Settings) => string
  /** Answers that last hold no place among the calls at once. */
  readonly lasts?: true
  /** Told of each server of the gateway before it listens. */
  readonly served?: (server: Server, listener: RequestListener) => void
  /** Put on every answer, errors too; `{id}` stands for the request's id. */
  readonly headers?: Readonly<Record<string, string>>
  readonly needs: N
  /** The same without a promise for each step, as far as nothing unusual is met; null where it can't be begun so. */
  straight?(entry: StraightEntry, supplied: Supplied<N>): StraightCall | null
  handle(
    request: Request<InferOutput<S>, InferOutput<Q>, A extends 'anyone' | 'unasked' ? Caller | null : Caller, P>,
    supplied: Supplied<N>,
  ): Promise<Reply> | Reply
}

/** Routes differ in what they need and take. */
export type AnyRoute = Route

/** Declares a route; the types of its handler follow from the declaration. */
export const route = <
  N extends Needs,
  S extends GenericSchema,
  Q extends GenericSchema,
  const A extends Access,
  const P extends string,
>(
  declared: Route<N, S, Q, A, P>,
): Route<N, S, Q, A, P> => declared

/** The path as it is served: the families under their configured names. */
export const namedPath = (path: string, { names }: Pick<Settings, 'names'>): string =>
  path.replace(/^\/(compat|std|v1)(?=\/)/, (_, family: keyof typeof names) => `/${names[family]}`)
