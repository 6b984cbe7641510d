import { createHmac, hash } from 'node:crypto'
import type { Ask, Clock, Fetch } from '../../../core/ports/platform.ts'

/** Access keys of Amazon, permanent or temporary. */
export interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Empty where the credentials don't expire. */
  readonly sessionToken: string
}

type Headers = Readonly<Record<string, string>>

/** A request before its signature. */
interface Unsigned extends Pick<Ask, 'method'> {
  readonly url: string
  readonly headers: Headers
  /** The SHA-256 of the body, in hex. */
  readonly sum: string
}

const service = 'bedrock'

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** The door to a service of Amazon that signs each request by Signature Version 4. */
export const signedDoor = (fetch: Fetch, clock: Clock, region: string, credentials: Credentials): Fetch => {
  const signed = signing(clock, region, credentials)
  const { push } = fetch
  return {
    outside: fetch.outside,
    async upstream(url, ask) {
      const { method, body = '', headers = {} } = ask
      const sum = typeof body === 'string' ? hash('sha256', body) : await longSum(body)
      return fetch.upstream(url, { ...ask, headers: signed({ method, url, headers, sum }) })
    },
    ...(push && {
      push: (url, headers, body, reader) =>
        push(url, signed({ method: 'POST', url, headers, sum: hash('sha256', body) }), body, reader),
    }),
  }
}

/** Long bodies are summed beside the loop. */
const longSum = async (body: Uint8Array): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', new Uint8Array(body))).toString('hex')

/** Gives the headers of a request with its signature. The key of a day is made once. */
const signing = (clock: Clock, region: string, { accessKeyId, secretAccessKey, sessionToken }: Credentials) => {
  let made: { readonly day: string; readonly key: Buffer } | null = null
  const keyOf = (day: string): Buffer => {
    if (made?.day !== day)
      made = { day, key: [region, service, 'aws4_request'].reduce(hmac, hmac(`AWS4${secretAccessKey}`, day)) }
    return made.key
  }
  return ({ method, url, headers, sum }: Unsigned): Headers => {
    const { host, pathname, searchParams } = new URL(url)
    const time = new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, '')
    const day = time.slice(0, 8)
    const dated = {
      ...{ host, 'x-amz-date': time },
      ...(sessionToken !== '' && { 'x-amz-security-token': sessionToken }),
    }
    const names = Object.keys(dated).join(';')
    const lines = Object.entries(dated).map(([name, value]) => `${name}:${value}\n`)
    const canonical = [method, canonicalPath(pathname), canonicalQuery(searchParams), lines.join(''), names, sum]
    const scope = `${day}/${region}/${service}/aws4_request`
    const toSign = ['AWS4-HMAC-SHA256', time, scope, hash('sha256', canonical.join('\n'))].join('\n')
    const signature = hmac(keyOf(day), toSign).toString('hex')
    const { host: _, ...added } = dated
    return {
      ...headers,
      ...added,
      authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
    }
  }
}

/** Percent encoding as Amazon defines it. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

/** Each part is encoded once more than the request has it. */
const canonicalPath = (path: string): string => path.split('/').map(encoded).join('/')

const canonicalQuery = (query: URLSearchParams): string =>
  [...query]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&')
