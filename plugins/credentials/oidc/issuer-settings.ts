import * as v from 'valibot'
import { isName } from '../../shared/names.ts'
import { type Scope, scopes } from '../../../core/access/scopes.ts'
import { OwnLimits } from '../../../core/limit-settings.ts'
import { section } from '../../../core/ports/section.ts'

const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const
/** Names of RFC 7518 and RFC 8037. Algorithms with a shared secret and `none` are left out on purpose. */
export type Algorithm = (typeof algorithms)[number]

const ms = v.pipe(v.number(), v.integer())
const claim = v.pipe(v.string(), v.minLength(1))
const name = v.pipe(v.string(), v.check(isName, 'a name of letters, digits and . _ @ -'))

const isNear = (host: string): boolean => host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host)

/** An attacker on the network can replace public keys that travel in the clear. */
const isGuarded = (text: string): boolean => {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  return (protocol === 'https:' || (protocol === 'http:' && isNear(hostname))) && username === '' && password === ''
}

/** Parameters of a login that the gateway and the browser say themselves. */
const own =
  /^(?:client_(?:id|secret)|response_(?:type|mode)|redirect_uri|scope|state|nonce|code|code_(?:challenge|challenge_method|verifier)|grant_type)$/

const address = v.pipe(v.string(), v.check(isGuarded, 'an https URL, or an http URL of this machine'))

/** The console's own login at the issuer, as a client of it. */
const Login = v.strictObject({
  client: v.pipe(v.string(), v.minLength(1)),
  /** Absent for a public client. */
  secret: v.optional(v.pipe(v.string(), v.minLength(1))),
  authorize: address,
  token: address,
  /** Where the issuer sends readers back: the console, to the letter. */
  redirect: v.pipe(
    address,
    v.check((text) => /^[^?#]*\/console$/.test(text), 'an address that ends with /console'),
  ),
  scope: v.optional(
    v.pipe(
      v.string(),
      v.check((text) => text.split(' ').includes('openid'), 'openid among them'),
    ),
    'openid',
  ),
  /** Said in both requests. */
  parameters: v.optional(
    v.record(
      v.pipe(
        v.string(),
        v.check((name) => !own.test(name), 'a parameter that the gateway does not say itself'),
      ),
      v.string(),
    ),
    {},
  ),
})

/** Scopes that need a key of the caller's own: what they give to a key would outlive a login. */
const ofKeys = ['api_key.create', 'api_key.update', 'api_key.delegate'] as const

/** What a person with a token of an issuer may be given. */
const personScopes = scopes.filter(
  (scope): scope is Exclude<Scope, (typeof ofKeys)[number]> => !(ofKeys as readonly Scope[]).includes(scope),
)

/** What people get whose token says what `when` asks. */
export const PersonGrant = v.strictObject({
  /** By claim: what it has to be, or to have among its values. */
  when: v.optional(v.record(claim, v.string()), {}),
  organization: name,
  team: v.exactOptional(name),
  scopes: v.optional(v.array(v.picklist(personScopes))),
  /** Null for all. */
  models: v.optional(v.nullable(v.array(v.string())), null),
  limits: v.optional(OwnLimits, {}),
})

/** An issuer of access tokens, and what its tokens are good for here. */
const IssuerSettings = v.strictObject({
  /** `iss` of its tokens, to the letter. */
  issuer: v.pipe(v.string(), v.minLength(1)),
  /** Where its public keys are. */
  keys: address,
  /** What `aud` of its tokens has. */
  audience: v.pipe(v.string(), v.minLength(1)),
  algorithms: v.optional(v.pipe(v.array(v.picklist(algorithms)), v.minLength(1)), [...algorithms]),
  /** What `typ` of its access tokens may be; an empty one stands for none. */
  types: v.optional(v.pipe(v.array(v.string()), v.minLength(1)), ['at+jwt']),
  /** By how much its clock and ours may differ. */
  skew: v.optional(v.pipe(ms, v.minValue(0), v.maxValue(300_000)), 30_000),
  /** The longest time from `iat` to `exp`. */
  lifetime: v.optional(v.pipe(ms, v.minValue(1)), 86_400_000),
  user: v.optional(
    v.strictObject({
      claim: v.optional(claim, 'sub'),
      /** Stands before the claim; absent, the name of the issuer and a dot. */
      prefix: v.optional(
        v.pipe(v.string(), v.regex(/^([A-Za-z0-9][\w.@-]{0,39})?$/, 'up to 40 letters, digits and . _ @ -')),
      ),
    }),
    {},
  ),
  /** How readers of the console log in; absent where they don't. */
  login: v.exactOptional(Login),
  /** The claim that narrows the scopes of a grant; absent, no claim does. */
  scopes: v.optional(claim),
  /** The first that fits decides; a token that none fits is refused. */
  grants: v.pipe(v.array(PersonGrant), v.minLength(1)),
})

/** The settings of an issuer after the check, with every default in its place. */
export type IssuerSettings = v.InferOutput<typeof IssuerSettings>
/** The login of an issuer after the check. */
export type LoginSettings = v.InferOutput<typeof Login>
/** A grant after the check. A grant with an empty `when` fits every token of its issuer. */
export type PersonGrant = v.InferOutput<typeof PersonGrant>

const Issuers = v.record(
  v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'a name of lower-case letters, digits and dashes')),
  IssuerSettings,
)

/** A token leads to one issuer, so another one with the same `iss` and `aud` would never be reached. */
const apart = v.rawCheck<v.InferOutput<typeof Issuers>>(({ dataset, addIssue }) => {
  if (!dataset.typed) return
  const names = new Map<string, string>()
  for (const [key, value] of Object.entries(dataset.value)) {
    const { issuer, audience } = value
    const pair = JSON.stringify([issuer, audience])
    const first = names.get(pair)
    if (first === undefined) names.set(pair, key)
    else {
      const path = [
        { type: 'object', origin: 'value', input: dataset.value, key, value },
        { type: 'object', origin: 'value', input: value, key: 'audience', value: audience },
      ] as const
      addIssue({
        expected: `another audience than issuers.${first} has, which names the same issuer`,
        path: [...path] as never,
      })
    }
  }
})

const issuers = v.optional(v.pipe(Issuers, apart), {})

/** By name: whose access tokens are credentials beside keys. */
export const issuerSettings = section('issuers', issuers)
