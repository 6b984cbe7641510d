import { createHash, createHmac } from 'node:crypto'
import type { Asked } from './recorded.ts'

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
const hash = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Percent encoding as Amazon's page on signing defines it. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

/** The canonical path has each part encoded once more than the request has it. */
const canonicalPath = (path: string): string => path.split('/').map(encoded).join('/')

const canonicalQuery = (query: string): string =>
  [...new URLSearchParams(query)]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&')

/** The signature that a request must have, by Amazon's page alone; null when its authorization is of another form. */
export const expectedSignature = ({ method, path, headers, body }: Asked, secret: string) => {
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/((\d{8})\/([^/]+)\/([^/]+)\/aws4_request), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/
  const [, keyId, scope, day, region, service, signed, signature] = form.exec(headers.authorization ?? '') ?? []
  if (keyId === undefined) return null
  const [route = '', query = ''] = path.split('?')
  const named = signed!.split(';').map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}\n`)
  const canonical = [method, canonicalPath(route), canonicalQuery(query), named.join(''), signed, hash(body)].join('\n')
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, hash(canonical)].join('\n')
  const key = [region!, service!, 'aws4_request'].reduce(hmac, hmac(`AWS4${secret}`, day!))
  return { keyId, region, service, signed: signed!.split(';'), signature, expected: hmac(key, toSign).toString('hex') }
}
