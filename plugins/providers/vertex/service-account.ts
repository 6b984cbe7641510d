import { createPrivateKey, sign, type KeyObject } from 'node:crypto'
import * as v from 'valibot'
import { parseObject } from '../../shared/backend.ts'
import type { TokenRequest } from '../shared/sign-in.ts'

const scope = 'https://www.googleapis.com/auth/cloud-platform'
/** Seconds that an assertion holds; Google takes no more. */
const holds = 3600

/** What is read of the key file of a service account. */
const KeyFile = v.object({
  client_email: v.pipe(v.string(), v.minLength(1)),
  private_key: v.string(),
  private_key_id: v.optional(v.string()),
  token_uri: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^https?:\/\//, 'an address that begins with http:// or https://'),
      v.url('an address that begins with http:// or https://'),
    ),
    'https://oauth2.googleapis.com/token',
  ),
})

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Signs in by a signed assertion. Throws when the text is no key file, without a word of it. */
export const byKeyFile = (name: string, text: string, now: () => number): TokenRequest => {
  const { success, output: file } = v.safeParse(KeyFile, parseObject(text))
  if (!success) throw new Error(`${name}: serviceAccount is not the JSON text of a key file`)
  const key = keyOf(name, file.private_key)
  const head = base64({
    alg: 'RS256',
    typ: 'JWT',
    ...(file.private_key_id !== undefined && { kid: file.private_key_id }),
  })
  return () => {
    const iat = Math.floor(now() / 1000)
    const claims = { iss: file.client_email, scope, aud: file.token_uri, iat, exp: iat + holds }
    const unsigned = `${head}.${base64(claims)}`
    const signature = sign('sha256', Buffer.from(unsigned), key).toString('base64url')
    const grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
    return {
      url: file.token_uri,
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `${new URLSearchParams({ grant_type, assertion: `${unsigned}.${signature}` })}`,
    }
  }
}

/** Throws when the text holds no RSA key, without a word of the text. */
const keyOf = (name: string, pem: string): KeyObject => {
  try {
    const key = createPrivateKey(pem)
    if (key.asymmetricKeyType === 'rsa') return key
  } catch {
    // The fault quotes the key, so nobody is shown it.
  }
  throw new Error(`${name}: serviceAccount has no RSA key`)
}

/** Signs in as the service account of the machine or of the workload. */
export const byMetadata = (address: string): TokenRequest => {
  const url = `${address}/computeMetadata/v1/instance/service-accounts/default/token`
  return () => ({ url, method: 'GET', headers: { 'metadata-flavor': 'Google' } })
}
