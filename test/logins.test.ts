import './fakes/unwatched.ts'
import { createServer, type RequestListener } from 'node:http'
import Provider from 'oidc-provider'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { system } from '../adapters/memory/platform.ts'
import { fetch as doors } from '../adapters/production/platform.ts'
import { use } from '../core/plugin.ts'
import { Clock } from '../core/ports/platform.ts'
import type { SettingsInput } from '../core/settings.ts'
import openai from '../plugins/providers/openai.ts'
import { running } from './environments.ts'
import { type IssuerKey, issuerKey, signed } from './fakes/issuer.ts'
import { listening } from './fakes/listening.ts'
import { withoutIds } from './fakes/without-ids.ts'
import { until } from './until.ts'
import { exportJWK } from 'jose'
import { given } from './fitted.ts'

const secret = 'a-secret-of-the-client'
const audience = 'https://sealgate.example'

/** The issuer as it is run, with these keys; another set of keys is what it has after a rotation. */
const providerWith = async (issuer: string, keys: readonly IssuerKey[]): Promise<RequestListener> => {
  const jwks = await Promise.all(
    keys.map(async ({ privateKey, ...key }) => ({ ...key.jwk, ...(await exportJWK(privateKey)) })),
  )
  const resource = { scope: 'models.read', audience, accessTokenFormat: 'jwt', accessTokenTTL: 600 }
  return new Provider(issuer, {
    jwks: { keys: jwks },
    clients: [
      {
        client_id: 'ada',
        client_secret: secret,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
    ],
    extraTokenClaims: () => ({ groups: ['staff'] }),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_: unknown, wanted: string) => ({
          ...resource,
          audience: wanted,
          jwt: { sign: { alg: keys[0]?.alg } },
        }),
      },
    },
  }).callback()
}

const issuerAt = async (t: Test, first: IssuerKey) => {
  let serve: RequestListener = (_, response) => void response.writeHead(500).end()
  const server = createServer((request, response) => serve(request, response))
  const { port } = await listening(t, server, '127.0.0.1')
  const url = `http://127.0.0.1:${port}`
  const rotate = async (...keys: readonly IssuerKey[]) => void (serve = await providerWith(url, keys))
  await rotate(first)
  return {
    url,
    rotate,
    fail: () => void (serve = (_, response) => void response.writeHead(500).end()),
    async token(resource = audience): Promise<string> {
      const body = new URLSearchParams({ grant_type: 'client_credentials', scope: 'models.read', resource })
      const authorization = `Basic ${Buffer.from(`ada:${secret}`).toString('base64')}`
      const answer = await fetch(`${url}/token`, { method: 'POST', headers: { authorization }, body })
      return ((await answer.json()) as { access_token: string }).access_token
    },
  }
}

/** The clock of this machine, which can be put on. */
const movable = () => {
  let ahead = 0
  const clock: Clock = { ...system.clock, now: () => system.clock.now() + ahead }
  return {
    fitting: given(Clock, 'clock', () => clock),
    on: (ms: number) => void (ahead += ms),
  }
}

t.test('people of a real issuer call with their access tokens', async (t) => {
  const [first, second] = await Promise.all([issuerKey('RS256', 'first'), issuerKey('ES256', 'second')])
  const issuer = await issuerAt(t, first)
  const settings: SettingsInput = {
    issuers: {
      company: {
        issuer: issuer.url,
        keys: `${issuer.url}/jwks`,
        audience,
        scopes: 'scope',
        grants: [{ when: { groups: 'staff' }, organization: 'acme', limits: { requestsPerSecond: 7 } }],
      },
    },
  }
  const clock = movable()
  const gateway = await running(t, { ...memory(), clock: clock.fitting, fetch: use(doors) }, settings)
  const ask = (token: string, path = '/std/models') =>
    gateway.call('GET', path, undefined, { authorization: `Bearer ${token}` })

  const token = await issuer.token()
  const answer = await ask(token)
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('x-ratelimit-limit-requests'), '7', 'limits come from the configuration')
  t.equal((await ask(token, '/files/encrypted')).status, 403, 'and scopes from both')
  t.equal((await ask(gateway.key)).status, 200, 'keys go on beside them')
  t.match(
    gateway.logged.find(({ event }) => event === 'request'),
    { facts: { key: /^person_/ } },
  )

  const words = async (refused: Response) => {
    const { error, validator } = (await refused.json()) as Record<string, unknown>
    return { status: refused.status, error, validator, challenge: refused.headers.get('www-authenticate') }
  }
  const usual = await words(await ask('sk_live_111111111111111111111111111111111111111111111'))
  t.match(usual, { status: 401, error: 'Access token missing or invalid' })
  const [head = '', body = ''] = token.split('.')
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>
  const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'at+jwt' })).toString('base64url')
  const forger = await issuerKey('RS256', 'first')
  const bad: Readonly<Record<string, string>> = {
    forged: await signed(forger, claims),
    unsigned: `${none}.${body}.`,
    'of another signature': `${head}.${body}.${(await issuer.token()).split('.')[2] ?? ''}x`,
    'of an unknown issuer': await signed(first, { ...claims, iss: 'https://elsewhere.example' }),
    'for another audience': await issuer.token('https://another.example'),
    'an ID token': await signed(first, claims, { typ: 'JWT' }),
    expired: await signed(first, { ...claims, iat: 1, exp: 2 }),
  }
  for (const [kind, each] of Object.entries(bad)) t.same(await words(await ask(each)), usual, kind)
  const reasons = gateway.logged.flatMap(({ event, facts }) => (event === 'login.refused' ? [facts['reason']] : []))
  t.same([...new Set(reasons)], ['signature', 'algorithm', 'issuer', 'audience', 'type', 'expired'])
  t.notMatch(withoutIds(gateway.logged), new RegExp(`ada|staff|${body.slice(0, 40)}`))

  await issuer.rotate(second, first)
  clock.on(5_000)
  t.equal((await ask(await issuer.token())).status, 200, 'a rotated key is found')
  await issuer.rotate(second)
  clock.on(600_001)
  const mine = (key: IssuerKey) =>
    signed(key, { ...claims, iat: system.clock.now() / 1000 + 500, exp: Date.now() / 1000 + 1_000 })
  t.equal((await ask(await mine(second))).status, 200)
  t.ok(await until(async () => (await ask(await mine(first))).status === 401), 'a withdrawn key opens nothing')

  issuer.fail()
  clock.on(5_000)
  const unreachable = await ask(
    await signed(await issuerKey('ES256', 'third'), { ...claims, exp: Date.now() / 1000 + 1_000 }),
  )
  t.equal(unreachable.status, 503, 'keys out of reach are no fault of the caller')
  t.ok(unreachable.headers.get('retry-after'))
  t.equal((await ask(gateway.key)).status, 200)

  await gateway.gateway.renew({ settings: { issuers: {} } })
  t.same(await words(await ask(await mine(second))), usual, 'an issuer that was taken out opens nothing any more')
})

t.test('what runs under a login ends with its token', { timeout: 60_000 }, async (t) => {
  const key = await issuerKey('RS256', 'first')
  const issuer = await issuerAt(t, key)
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
  const first = { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: 'A' }, finish_reason: null }] }
  const backend = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: ${JSON.stringify(first)}\n\n`)
  })
  const { port } = await listening(t, backend, '127.0.0.1')
  t.teardown(() => backend.closeAllConnections())
  const gateway = await running(
    t,
    { ...memory(), fetch: use(doors), upstreams: [use(openai, { baseUrl: `http://127.0.0.1:${port}` }, 'house')] },
    {
      issuers: {
        company: {
          ...{ issuer: issuer.url, keys: `${issuer.url}/jwks`, audience, skew: 0 },
          grants: [{ when: { groups: 'staff' }, organization: 'acme', scopes: ['chats.completion'] }],
        },
      },
      models: { slow: { upstreams: [{ provider: 'house' }] } },
      timeouts: { revoked: 1_000 },
    },
  )
  const [, body = ''] = (await issuer.token()).split('.')
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>
  const begun = async (seconds: number) => {
    const exp = Math.floor(Date.now() / 1000) + seconds
    const authorization = `Bearer ${await signed(key, { ...claims, exp })}`
    const asked = { model: 'slow', stream: true, messages: [{ role: 'user', content: 'Hi' }] }
    const answer = await gateway.call('POST', '/std/chat/completions', asked, { authorization })
    t.equal(answer.status, 200)
    let isOver = false
    const over = answer.text().then(
      () => 'whole',
      () => 'cut',
    )
    void over.then(() => (isOver = true))
    return { exp, over, isOver: () => isOver }
  }
  const [short, long] = [await begun(4), await begun(600)]
  t.equal(await short.over, 'cut')
  const late = Date.now() - short.exp * 1000
  t.ok(late >= 0 && late < 3_000, `${late} ms after the token ran out`)
  t.notOk(long.isOver(), 'another login goes on')
})
