import { createHmac, createPublicKey, type JsonWebKey } from 'node:crypto'
import t from 'tap'
import { house, issued, type IssuerInput, type IssuerKey, issuerKey, signed } from '../../../fakes/issuer.ts'
import { until } from '../../../until.ts'

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const minute = 60_000
const unavailable = { name: 'Unavailable', message: 'The keys of the issuer are out of reach' }

t.test('an access token of each algorithm is its person, found once in five seconds', async (t) => {
  const keys = await Promise.all(['RS256', 'PS256', 'ES256', 'EdDSA'].map((alg) => issuerKey(alg, `of ${alg}`)))
  const { logins, clock, asked: requests, reasons } = await house(t, keys)
  for (const key of keys) {
    const token = await signed(key, issued(clock.now()))
    t.ok(logins.takes(token))
    const caller = await logins.find(token)
    t.match(caller, { key: /^person_[0-9a-f]{32}$/, organization: 'acme', user: 'company.ada', models: null }, key.alg)
    t.notOk(caller?.scopes.some((scope) => scope.startsWith('api_key.')))
    t.equal(await logins.find(token), caller, 'the same one is found again')
  }
  t.equal(requests.length, 1, 'its keys are asked for once')
  t.same(reasons(), [])
  t.notOk(logins.takes('sk_live_1'), 'a key is no token')
})

t.test('every kind of bad token is refused, and why is told to the log alone', async (t) => {
  const [rsa, whole] = await Promise.all([issuerKey('RS256', 'one'), issuerKey('ES256', 'two')])
  const { alg: _, ...untold } = whole.jwk
  const ec: IssuerKey = { ...whole, jwk: { ...untold } }
  const forger = await issuerKey('RS256', 'one')
  const mine = { jwk: forger.jwk, jku: 'http://127.0.0.1:9/', x5u: 'http://127.0.0.1:9/' }
  const pem = createPublicKey({ key: rsa.jwk as JsonWebKey, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
  const rows: readonly (readonly [string, (now: number) => string | Promise<string>])[] = [
    ['signature', (now) => signed(forger, issued(now))],
    ['signature', (now) => signed(forger, issued(now), mine)],
    ['signature', async (now) => `${await signed(rsa, issued(now))}AA`],
    ['signature', async (now) => spliced(await signed(rsa, issued(now)), issued(now, { sub: 'root' }))],
    ['algorithm', (now) => `${base64({ alg: 'none', typ: 'at+jwt' })}.${base64(issued(now))}.`],
    ['algorithm', (now) => hmac({ alg: 'HS256', kid: 'one', typ: 'at+jwt' }, issued(now), pem)],
    ['algorithm', (now) => signed(rsa, issued(now), { alg: 'RS256' }).then((text) => headed(text, { alg: 'RS384' }))],
    ['key', (now) => rehead(now, { alg: 'RS256', kid: 'two', typ: 'at+jwt' })],
    ['key', (now) => signed(rsa, issued(now), { kid: 'unknown' })],
    ['issuer', (now) => signed(rsa, issued(now, { iss: 'https://login.example/' }))],
    ['issuer', (now) => signed(rsa, issued(now, { iss: undefined }))],
    ['audience', (now) => signed(rsa, issued(now, { aud: 'another' }))],
    ['audience', (now) => signed(rsa, issued(now, { aud: ['another', 'sealgate.'] }))],
    ['type', (now) => signed(rsa, issued(now), { typ: 'JWT' })],
    ['type', (now) => rehead(now, { alg: 'RS256', kid: 'one' })],
    ['critical', (now) => rehead(now, { alg: 'RS256', kid: 'one', typ: 'at+jwt', crit: ['exp'] })],
    ['identity', (now) => signed(rsa, issued(now, { nonce: 'n' }))],
    ['identity', (now) => signed(rsa, issued(now, { at_hash: 'h' }))],
    ['identity', (now) => signed(rsa, issued(now, { typ: 'ID' }))],
    ['times', (now) => signed(rsa, issued(now, { exp: undefined }))],
    ['times', (now) => signed(rsa, issued(now, { iat: undefined }))],
    ['times', (now) => signed(rsa, issued(now, { nbf: 'soon' }))],
    ['lifetime', (now) => signed(rsa, issued(now, { exp: now / 1000 + 86_401 }))],
    ['expired', (now) => signed(rsa, issued(now, { iat: now / 1000 - 100, exp: now / 1000 - 30 }))],
    ['early', (now) => signed(rsa, issued(now, { nbf: now / 1000 + 31 }))],
    ['early', (now) => signed(rsa, issued(now, { iat: now / 1000 + 31, exp: now / 1000 + 60, nbf: now / 1000 }))],
    ['user', (now) => signed(rsa, issued(now, { sub: undefined }))],
    ['user', (now) => signed(rsa, issued(now, { sub: ['ada'] }))],
    ['malformed', (now) => signed(rsa, issued(now, { pad: 'x'.repeat(8_192) }))],
    ['malformed', () => 'e30.W10.x'],
    ['malformed', () => 'x.y.z'],
  ]
  for (const [reason, token] of rows) {
    const { logins, clock, reasons, asked: requests } = await house(t, [rsa, ec])
    const text = await token(clock.now())
    t.ok(logins.takes(text), reason)
    t.equal(await logins.find(text), null, reason)
    t.same(reasons(), [reason])
    if (!['signature', 'key', 'user'].includes(reason)) t.equal(requests.length, 0, `${reason} asks nobody`)
  }

  /** Other claims between a header and a signature that were made for each other. */
  function spliced(token: string, claims: object): string {
    const [head, , tail] = token.split('.')
    return `${head}.${base64(claims)}.${tail}`
  }
  function headed(token: string, header: object): string {
    const [, body, tail] = token.split('.')
    return `${base64({ kid: 'one', typ: 'at+jwt', ...header })}.${body}.${tail}`
  }
  async function rehead(now: number, header: object): Promise<string> {
    const [, body, tail] = (await signed(rsa, issued(now))).split('.')
    return `${base64(header)}.${body}.${tail}`
  }
  /** A public key, which everybody has, as the secret of a symmetric algorithm. */
  function hmac(header: object, claims: object, secret: string | Buffer): string {
    const text = `${base64(header)}.${base64(claims)}`
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
  }
})

t.test('times are taken with the skew and no more, and tell the operator how far they are off', async (t) => {
  const key = await issuerKey('ES256', 'one')
  const { logins, clock, logged } = await house(t, [key], { skew: 5_000 })
  const now = clock.now() / 1000
  const token = await signed(key, issued(clock.now(), { iat: now + 5, nbf: now + 5, exp: now + 60 }))
  t.ok(await logins.find(token))
  await clock.pass(64_999)
  t.ok(await logins.find(token))
  await clock.pass(1)
  t.equal(await logins.find(token), null, 'though it was found a moment ago')
  t.same(logged.at(-1), {
    event: 'login.refused',
    facts: { issuer: 'company', reason: 'expired', seconds: 5, more: 0 },
  })
  await logins.find(token)
  await logins.find(token)
  t.equal(logged.length, 1, 'one line for many')
  await clock.pass(10_000)
  await logins.find(token)
  t.match(logged[1], { facts: { seconds: 15, more: 2 } })
  t.notMatch(JSON.stringify(logged), /ada/)
})

t.test('rotated keys are found at once, and no token makes the gateway ask more often than it may', async (t) => {
  const [old, young] = await Promise.all([issuerKey('ES256', 'old'), issuerKey('ES256', 'young')])
  const shown = [old]
  const { logins, clock, asked: requests } = await house(t, shown)
  t.ok(await logins.find(await signed(old, issued(clock.now()))))
  await clock.pass(5_000)
  shown.push(young)
  t.ok(await logins.find(await signed(young, issued(clock.now()))), 'the new key is asked for')
  t.equal(requests.length, 2)
  for (let i = 0; i < 50; i++)
    t.equal(await logins.find(await signed(old, issued(clock.now()), { kid: `unknown ${i}` })), null)
  t.equal(requests.length, 2, 'forged names ask nobody within the pause')
  const crowd = Array.from({ length: 20 }, (_, i) => signed(old, issued(clock.now()), { kid: `another ${i}` }))
  await clock.pass(5_000)
  await Promise.all((await Promise.all(crowd)).map((text) => logins.find(text)))
  t.equal(requests.length, 3, 'and together ask once')
  shown.shift()
  await clock.pass(10 * minute + 1)
  const withdrawn = async () => logins.find(await signed(old, issued(clock.now())))
  t.ok(await withdrawn(), 'nobody waits for the next list')
  t.ok(await until(async () => (await withdrawn()) === null), 'with which a withdrawn key ends')
})

t.test('keys out of reach are a 503; the last ones count for an hour', async (t) => {
  const key = await issuerKey('ES256', 'one')
  const { logins, clock, asked: requests, logged, answers } = await house(t, [key])
  const token = (header = {}) => signed(key, issued(clock.now()), header)
  const good = { body: JSON.stringify({ keys: [key.jwk] }) }
  const faults = [
    { status: 500, body: 'no' },
    { status: 302, headers: { location: '/elsewhere' }, body: good.body },
    { body: 'no' },
    { body: '{}' },
    { body: JSON.stringify({ keys: [], pad: 'x'.repeat(256 * 1024) }) },
    { body: 'no', pace: { cut: 1 } },
  ] as const
  for (const fault of faults) {
    answers(() => fault)
    await t.rejects(logins.find(await token()), unavailable)
    await clock.pass(5_000)
  }
  t.equal(requests.length, faults.length)
  await t.rejects(logins.find(await token()), unavailable)
  await t.rejects(logins.find(await token()), unavailable, 'asked a moment ago')
  t.equal(requests.length, faults.length + 1)
  t.match(logged[0], { event: 'issuer.unreachable', facts: { issuer: 'company', status: 500 } })

  await clock.pass(5_000)
  answers(() => good)
  t.ok(await logins.find(await token()))
  answers(() => faults[0])
  await clock.pass(60 * minute)
  t.ok(await logins.find(await token()), 'what was learned before goes on')
  await t.rejects(logins.find(await token({ kid: 'young' })), unavailable, 'nobody knows whether there is such a key')
  await clock.pass(5_000)
  await t.rejects(logins.find(await token()), unavailable)
  t.notMatch(JSON.stringify(logged), /grant|ada/)
})

t.test('an issuer that says nothing is given up after five seconds', async (t) => {
  const key = await issuerKey('ES256', 'one')
  const { logins, clock, answers, asked: requests } = await house(t, [key])
  answers(() => ({ body: '', pace: 'silent' }))
  const finding = logins.find(await signed(key, issued(clock.now())))
  const refused = t.rejects(finding, unavailable)
  while (requests.length === 0) await new Promise((resolve) => setImmediate(resolve))
  await clock.pass(5_000)
  await refused
})

t.test('claims become organisation, user, scopes and limits by the configuration alone', async (t) => {
  const key = await issuerKey('ES256', 'one')
  const looked = async (issuer: Partial<IssuerInput>, claims: object) => {
    const { logins, clock, reasons } = await house(t, [key], issuer)
    const caller = await logins.find(await signed(key, issued(clock.now(), claims)))
    return { caller, reasons: reasons() }
  }
  const person = async (issuer: Partial<IssuerInput>, claims: object) => {
    const { caller } = await looked(issuer, claims)
    if (caller === null) throw new Error('Nobody was found')
    return caller
  }
  const fitsNone = async (grants: IssuerInput['grants'], claims: object) =>
    t.same(await looked({ grants }, claims), { caller: null, reasons: ['grant'] })
  const grants = [
    { when: { 'realm.roles': 'chief', verified: 'true' }, organization: 'chiefs', scopes: ['api_key.read'] },
    {
      when: { 'https://acme.example/group': 'staff' },
      organization: 'acme',
      team: 'blue',
      models: ['small'],
      limits: { tokensPerDay: 5 },
    },
  ] satisfies IssuerInput['grants']
  t.match(await person({ grants }, { realm: { roles: ['x', 'chief'] }, verified: true }), {
    organization: 'chiefs',
    scopes: ['api_key.read'],
  })
  const staff = { 'https://acme.example/group': 'staff' }
  t.match(await person({ grants }, staff), {
    organization: 'acme',
    team: 'blue',
    models: ['small'],
    limits: { tokensPerDay: 5 },
  })
  await fitsNone(grants, { organization: 'acme', groups: ['chief'] })
  await fitsNone(grants, { realm: { roles: 'chief' }, verified: 'false' })
  await fitsNone([{ when: { toString: 'x' }, organization: 'acme' }], {})

  t.same((await person({ scopes: 'scope' }, { scope: 'models.read api_key.create other' })).scopes, ['models.read'])
  t.same((await person({ scopes: 'scope' }, {})).scopes, [], 'and nothing without the claim')

  const user = { claim: 'email', prefix: '' }
  t.match(await person({ user }, { email: 'ada@acme.example' }), { user: 'ada@acme.example' })
  const inherited = await looked({ user: { claim: 'constructor.name' } }, {})
  t.same(inherited, { caller: null, reasons: ['user'] })
  const strange = (await person({}, { sub: 'auth0|1' })).user
  t.match(strange, /^sha256\.[0-9a-f]{64}$/)
  const posing = await person({ user: { claim: 'sub', prefix: '' } }, { sub: strange })
  t.match(posing.user, /^sha256\.[0-9a-f]{64}$/)
  t.not(posing.user, strange, 'nobody is called like the hash of another')
  t.not((await person({}, { sub: 'ada' })).key, (await person({}, { sub: 'bob' })).key)
  const chief = { realm: { roles: 'chief' }, verified: true }
  t.not(
    (await person({ grants }, chief)).key,
    (await person({}, chief)).key,
    'nor is the id that of another organisation',
  )
})

t.test('the configuration is refused where it opens more than it says', async (t) => {
  const refused = (issuer: object) => t.rejects(house(t, [], issuer), /issuers\.company/, JSON.stringify(issuer))
  await refused({ keys: 'http://login.example/keys' })
  await refused({ keys: 'https://ada:pass@login.example/keys' })
  await refused({ algorithms: ['HS256'] })
  await refused({ algorithms: ['none'] })
  await refused({ algorithms: [] })
  await refused({ grants: [] })
  await refused({ grants: [{ organization: 'acme', scopes: ['api_key.create'] }] })
  await refused({ skew: 300_001 })
})
