import { AwsV4Signer } from 'aws4fetch'
import type { Clock, Fetch } from '../../../core/ports/platform.ts'

/** Access keys of Amazon, permanent or temporary. */
export interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Empty where the credentials don't expire. */
  readonly sessionToken: string
}

/** The door to a service of Amazon that signs each request by Signature Version 4. */
export const signedDoor = (fetch: Fetch, clock: Clock, region: string, credentials: Credentials): Fetch => {
  const identity = { ...credentials, service: 'bedrock', region, cache: new Map<string, ArrayBuffer>() }
  return {
    outside: fetch.outside,
    async upstream(url, ask) {
      const datetime = new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, '')
      const { method, body, headers = {} } = ask
      const content = body === undefined ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) }
      const signed = await new AwsV4Signer({ method, url, headers, ...content, ...identity, datetime }).sign()
      return fetch.upstream(signed.url.href, { ...ask, headers: Object.fromEntries(signed.headers) })
    },
  }
}
