import { type StreamEvent, eventsOf } from './event-stream.ts'
import type { Paged } from './answers.ts'

/** Why the gateway did not do what it was asked. Its words are constant, and its fields are the asker's own. */
export class Refused extends Error {
  readonly status: number
  /** By field, what was expected. */
  readonly fields: Readonly<Record<string, string>>

  constructor(status: number, words: string, fields: Readonly<Record<string, string>> = {}) {
    super(words)
    this.status = status
    this.fields = fields
  }
}

/** What may pass: too much at once, a backend that fails, a gateway that is not there just now. */
export const mayPass = (error: unknown): error is Refused =>
  error instanceof Refused && (error.status === 0 || error.status === 429 || error.status >= 500)

/** Null where the gateway refuses with one of these statuses. */
export const unlessRefused = <T>(answer: Promise<T>, ...statuses: readonly number[]): Promise<T | null> =>
  answer.catch((error: unknown) => {
    if (error instanceof Refused && statuses.includes(error.status)) return null
    throw error
  })

export type Query = Readonly<Record<string, string | number | null>>

/** The gateway that serves this page, asked with a key of its reader. */
export interface Gateway {
  /** Where clients find it, without a slash at the end. */
  readonly base: string
  /** What stands under `data`. Throws Refused. */
  ask<T>(method: string, path: string, body?: object): Promise<T>
  /** A whole answer in the form of its route. Throws Refused. */
  read<T>(path: string): Promise<T>
  /** A whole answer to a body that is JSON text already, whose order of names stays. Throws Refused. */
  post<T>(path: string, json: string, until?: AbortSignal): Promise<T>
  /** Throws Refused. */
  text(path: string): Promise<string>
  /** Events as they come; ends with the stream. A body is sent by POST. Throws Refused. */
  events(path: string, body?: object, until?: AbortSignal): AsyncIterable<StreamEvent>
  /** Sends bytes, and gives the events that tell how far they are. Throws Refused. */
  sent(path: string, bytes: Blob): AsyncIterable<StreamEvent>
  /**
   * Sends what others made, with the reader's key in place of theirs. The answer may be a refusal. A request without a
   * signal goes on when the reader leaves.
   */
  raw(path: string, init: RequestInit): Promise<Response>
}

/** The path of a route with its query; null and empty values are left out. */
export const pathOf = (path: string, query: Query = {}): string => {
  const fields = Object.entries(query).flatMap(([name, value]) =>
    value === null || value === '' ? [] : [`${name}=${encodeURIComponent(value)}`],
  )
  return fields.length === 0 ? path : `${path}?${fields.join('&')}`
}

/** Where the gateway is, of which this page is a part. */
export const baseOf = ({ origin, pathname }: Pick<Location, 'origin' | 'pathname'>): string =>
  origin + pathname.replace(/\/console$/, '')

const refusal = async (answer: Response): Promise<Refused> => {
  const body: unknown = await answer.json().catch(() => null)
  const { error, validator } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  const fields = typeof validator === 'object' && validator !== null ? Object.entries(validator) : []
  const told = Object.fromEntries(fields.map(([name, value]) => [name, String(value)]))
  return new Refused(answer.status, typeof error === 'string' ? error : `The gateway answers ${answer.status}`, told)
}

const jsonOf = (body: object | string): string => (typeof body === 'string' ? body : JSON.stringify(body))

/** The browser adds nothing of its own to a request, and keeps no answer. */
const bare = { credentials: 'omit', referrerPolicy: 'no-referrer', cache: 'no-store', redirect: 'error' } as const

/** The routes that give the cookie of a session and renew it. */
const ofCookie = /^\/console\/session\//

/**
 * `key` is null for what needs none. `named` is where clients find the gateway, when the page asks it through the reader's
 * own machine.
 */
export const gatewayAt = (base: string, key: string | null, signal: AbortSignal, named = base): Gateway => {
  const sent = async (
    method: string,
    path: string,
    body?: object | string,
    until: AbortSignal = signal,
  ): Promise<Response> => {
    const answer = await fetch(base + path, {
      method,
      signal: until,
      // What the reader ends is ended, too, where the tab closes at once.
      keepalive: method === 'DELETE',
      ...bare,
      ...(ofCookie.test(path) && { credentials: 'same-origin' }),
      headers: {
        accept: 'application/json',
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: jsonOf(body) }),
    }).catch((cause: unknown) => {
      if (until.aborted) throw cause
      throw new Refused(0, 'The gateway cannot be reached')
    })
    if (!answer.ok) throw await refusal(answer)
    return answer
  }
  const raw: Gateway['raw'] = (path, init) => {
    const headers = new Headers(init.headers)
    if (key !== null) headers.set('authorization', `Bearer ${key}`)
    return fetch(base + path, { ...init, ...bare, headers })
  }
  return {
    base: named,
    raw,
    async *sent(path, bytes) {
      const headers = { 'content-type': 'application/octet-stream' }
      const answer = await raw(path, { method: 'POST', body: bytes, headers, signal })
      if (!answer.ok) throw await refusal(answer)
      if (answer.body !== null) yield* eventsOf(answer.body)
    },
    ask: async <T>(method: string, path: string, body?: object) =>
      ((await (await sent(method, path, body)).json()) as { readonly data: T }).data,
    read: async <T>(path: string) => (await (await sent('GET', path)).json()) as T,
    post: async <T>(path: string, json: string, until?: AbortSignal) => {
      const either = until === undefined ? signal : AbortSignal.any([signal, until])
      return (await (await sent('POST', path, json, either)).json()) as T
    },
    text: async (path) => (await sent('GET', path)).text(),
    async *events(path, body, until) {
      const answer = await sent(body === undefined ? 'GET' : 'POST', path, body, until)
      if (answer.body !== null) yield* eventsOf(answer.body)
    },
  }
}

/** A line that asks the same from a shell, where the key stands in a variable. */
export const curlOf = (base: string, path: string, method = 'GET', body: object | string | null = null): string =>
  [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${shellWord(base + path)}`,
    `-H "Authorization: Bearer $SEALGATE_KEY"`,
    ...(body === null ? [] : [`-H 'Content-Type: application/json'`, `-d ${shellWord(jsonOf(body))}`]),
  ].join(' \\\n  ')

/** A word for a shell, whatever stands in it. */
const shellWord = (text: string): string => (/^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

export interface Listing<T> {
  readonly rows: readonly T[]
  /** Of the gateway; more than `rows` where the list is longer than the console reads. */
  readonly total: number
}

export const isWhole = ({ rows, total }: Listing<unknown>): boolean => rows.length >= total

const pageSize = 100
/** Pages of a long list that are under way at once. */
const atOnce = 5

/** The first rows of a list that comes in pages of 100; 2,000 rows unless told otherwise. */
export const wholeList = async <T>(
  gateway: Gateway,
  path: string,
  field: string,
  query: Query = {},
  mostPages = 20,
): Promise<Listing<T>> => {
  const pageOf = async (page: number): Promise<Listing<T>> => {
    const address = pathOf(path, { ...query, limit: pageSize, offset: page * pageSize })
    const answer = await gateway.ask<Readonly<Record<string, unknown>>>('GET', address)
    return { rows: answer[field] as readonly T[], total: (answer['pagination'] as Paged).total }
  }
  const { rows: first, total } = await pageOf(0)
  const pages = Math.min(mostPages, Math.ceil(total / pageSize))
  const rows: T[] = [...first]
  for (let page = 1; page < pages; page += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, pages - page) }, (_, more) => pageOf(page + more))
    for (const part of await Promise.all(some)) rows.push(...part.rows)
  }
  return { rows, total }
}
