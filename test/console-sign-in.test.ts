import { ConsoleSessions } from '../plugins/surfaces/console/console-sessions.ts'
import './fakes/unwatched.ts'
import { readFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { system } from '../adapters/memory/platform.ts'
import { fetch as doors } from '../adapters/production/platform.ts'
import { plugin, use } from '../core/plugin.ts'
import { Clock } from '../core/ports/platform.ts'
import type { SettingsInput } from '../core/settings.ts'
import { type Running, running } from './environments.ts'
import { launchChromium, withoutChromium } from './fakes/chromium.ts'
import { type Tab, tabOf } from './fakes/console-stage.ts'
import { type IssuerKey, issuerKey, signed } from './fakes/issuer.ts'
import { audience, client, clientSecret, loginIssuer } from './fakes/login-issuer.ts'
import { type Asked, type Recorded, type Take, recorded } from './fakes/recorded.ts'

const minute = 60_000
const secret = 'v'.repeat(43)

/** A clock that stands until it is put on: an allowance is never filled by chance. */
const standing = () => {
  let now = system.clock.now()
  const clock: Clock = { ...system.clock, now: () => now }
  return {
    fitting: use(plugin({ port: Clock, name: 'clock', create: () => clock })),
    on: (ms: number) => void (now += ms),
    now: () => now,
  }
}

interface Scene extends Running {
  readonly clock: ReturnType<typeof standing>
  /** A page of another origin, which the settings allow to call with keys; it is also an issuer that a test leads. */
  readonly other: Recorded
  readonly otherKey: IssuerKey
  /** What the other issuer gives for a code. */
  gives(take: (request: Asked) => Take | Promise<Take>): void
  /** A new link of the first key, as the start prints it. */
  link(): Promise<string>
  /** Asks as a page of the console does, once a second. */
  send(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>
  browser(): Promise<Browser>
}

const issuerOf = (url: string, redirect: string, at: { authorize: string; token: string; keys: string }) => ({
  issuer: url,
  keys: `${url}${at.keys}`,
  audience,
  skew: 5 * minute,
  grants: [{ when: { groups: 'staff' }, organization: 'acme', scopes: ['models.read', 'api_key.read'] }],
  login: {
    ...{ client, secret: clientSecret, redirect, authorize: `${url}${at.authorize}`, token: `${url}${at.token}` },
    ...{ scope: 'openid models.read api_key.read', parameters: { resource: audience } },
  },
})

const stage = async (t: Test): Promise<Scene> => {
  const clock = standing()
  const otherKey = await issuerKey('ES256', 'of another')
  let give: (request: Asked) => Take | Promise<Take> = () => ({ status: 500, body: '' })
  const other = await recorded((request) => {
    if (request.path === '/token') return give(request)
    if (request.path === '/keys') return { body: JSON.stringify({ keys: [otherKey.jwk] }) }
    return { headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>elsewhere</title>' }
  })
  t.teardown(() => other.close())
  const open: SettingsInput = { limits: { keyless: { requestsPerSecond: null } }, cors: { origins: [other.url] } }
  const gateway = await running(t, { ...memory(), clock: clock.fitting, fetch: use(doors) }, open)
  const redirect = `${gateway.base}/console`
  const { url } = await loginIssuer(t, redirect)
  const { login: _, ...honest } = issuerOf(other.url, redirect, { authorize: '', token: '', keys: '/keys' })
  const issuers = {
    // The gateway takes its tokens, and offers no login for it.
    honest: { ...honest, issuer: 'https://honest.example' },
    company: issuerOf(url, redirect, { authorize: '/auth', token: '/token', keys: '/jwks' }),
    other: issuerOf(other.url, redirect, { authorize: '/auth?tenant=1', token: '/token', keys: '/keys' }),
  } as NonNullable<SettingsInput['issuers']>
  await gateway.gateway.renew({ settings: { ...open, issuers } })
  let browser: Promise<Browser> | null = null
  t.teardown(async () => (await browser)?.close())
  return {
    ...gateway,
    ...{ clock, other, otherKey },
    gives: (take) => void (give = take),
    link: () => gateway.gateway.supply({ sessions: ConsoleSessions }).sessions.link(gateway.key),
    send(path, body, headers = {}) {
      clock.on(1_000)
      return fetch(gateway.base + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', ...headers },
        body: JSON.stringify(body),
      })
    },
    browser: () => (browser ??= launchChromium()),
  }
}

const words = async (answer: Response) => {
  const { error, validator } = (await answer.json()) as Record<string, unknown>
  return { status: answer.status, error, validator, challenge: answer.headers.get('www-authenticate') }
}

const credentialIn = async (answer: Response): Promise<string> =>
  ((await answer.json()) as { data: { credential: string } }).data.credential

const statusWith = async ({ base }: Scene, credential: string): Promise<number> =>
  (await fetch(`${base}/admin/self`, { headers: { authorization: `Bearer ${credential}` } })).status

const refused = {
  status: 401,
  error: 'Access token missing or invalid',
  validator: null,
  challenge: 'Bearer realm="sealgate"',
}

const browse = async (scene: Scene): Promise<Tab> =>
  tabOf(await (await (await scene.browser()).newContext()).newPage(), scene.base)

const signedIn = (page: Page): Promise<unknown> => page.waitForSelector('main:not([aria-busy]) h1 >> text=Home')
const kept = (page: Page): Promise<string> =>
  page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie]))

/** The tokens of the other issuer for a login with this nonce. */
const tokens = async (
  { clock, other, otherKey }: Scene,
  { id = {}, access = {}, by = otherKey }: { id?: object; access?: object; by?: IssuerKey } = {},
) => {
  const now = Math.floor(clock.now() / 1000)
  const both = { iss: other.url, sub: 'eve', iat: now, exp: now + 600 }
  return {
    id_token: await signed(by, { ...both, aud: client, nonce: secret, ...id }, { typ: 'JWT' }),
    access_token: await signed(otherKey, { ...both, aud: audience, groups: ['staff'], ...access }),
  }
}

const proof = { code: 'a-code', verifier: secret, nonce: secret }

const reasons = ({ logged }: Scene) =>
  logged.flatMap(({ event, facts }) => (event === 'login.refused' ? [facts['reason']] : []))

/** Sends a code to the other issuer, which gives these tokens for it. */
const given = async (scene: Scene, body: object, status = 200): Promise<Response> => {
  scene.clock.on(minute)
  scene.gives(() => ({ status, body: JSON.stringify(body) }))
  return scene.send('/console/logins/other', proof)
}

/** By the name of the row in docs/console.md. */
const attacks: Readonly<Record<string, (t: Test, scene: Scene) => Promise<void>>> = {
  async twice(t, scene) {
    const link = await scene.link()
    const answer = await scene.send('/console/session', { link })
    t.equal(answer.status, 201)
    t.equal(answer.headers.get('set-cookie'), null)
    t.same(await words(await scene.send('/console/session', { link })), refused)
  },
  async late(t, scene) {
    const [early, late] = [await scene.link(), await scene.link()]
    scene.clock.on(5 * minute - 1_001)
    t.equal((await scene.send('/console/session', { link: early })).status, 201)
    t.same(await words(await scene.send('/console/session', { link: late })), refused)
  },
  async guess(t, scene) {
    scene.clock.on(minute)
    const guess = (link: string) =>
      fetch(`${scene.base}/console/session`, { method: 'POST', body: JSON.stringify({ link }) })
    for (const link of ['', 'x'.repeat(43), 'x'.repeat(256), `${await scene.link()}x`, scene.key])
      t.same(await words(await guess(link)), refused)
    t.equal((await guess('x')).status, 429, 'five a second')
    scene.clock.on(1_000)
    t.equal((await guess(await scene.link())).status, 201)
  },
  async foreign(t, scene) {
    const link = await scene.link()
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
    ])
      t.same(await words(await scene.send('/console/session', { link }, headers)), refused)
    t.same(await words(await scene.send('/console/logins/other', proof, { 'sec-fetch-site': 'cross-site' })), refused)
    const old = (origin: string) =>
      fetch(`${scene.base}/console/session`, { method: 'POST', headers: { origin }, body: JSON.stringify({ link }) })
    scene.clock.on(1_000)
    for (const origin of [scene.other.url, 'null']) t.same(await words(await old(origin)), refused, 'an old browser')
    const told = await old(scene.base)
    t.equal(told.status, 201, 'the link is still whole')
    t.equal(told.headers.get('access-control-allow-origin'), null)
    const asks = { origin: scene.other.url, 'access-control-request-method': 'POST' }
    const preflight = await fetch(`${scene.base}/console/session`, { method: 'OPTIONS', headers: asks })
    t.equal(preflight.headers.get('access-control-allow-origin'), null, 'not even an origin of cors.origins')
  },
  async get(t, scene) {
    const link = await scene.link()
    const asked = async (path: string) => {
      const { status, headers } = await fetch(scene.base + path)
      return [status, headers.get('allow')]
    }
    t.same(await asked(`/console/session?link=${link}`), [405, 'POST, DELETE'])
    t.same(await asked('/console/session?link=x'), [405, 'POST, DELETE'], 'alike')
    t.equal((await scene.send('/console/session', { link })).status, 201)
  },
  async session(t, scene) {
    const made = await scene.gateway.keys.create({ name: 'behind a link' })
    const open = async () =>
      credentialIn(
        await scene.send('/console/session', {
          link: await scene.gateway.supply({ sessions: ConsoleSessions }).sessions.link(made.credential),
        }),
      )
    const [left, ended, lost] = [await open(), await open(), await open()]
    t.match(left, /^sk_console_\w{44}$/)
    t.equal(await statusWith(scene, left), 200)
    const leave = await fetch(`${scene.base}/console/session`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${left}` },
    })
    t.equal(leave.status, 200)
    t.equal(await statusWith(scene, left), 401, 'signing out ends it')
    t.equal(await statusWith(scene, made.credential), 200, 'and not the key')
    scene.clock.on(60 * minute - 3_001)
    t.equal(await statusWith(scene, ended), 200)
    scene.clock.on(2_001)
    t.equal(await statusWith(scene, ended), 401, 'an hour without use ends it')
    t.equal(await statusWith(scene, lost), 200)
    await scene.gateway.keys.revoke(made.row.id, null)
    t.equal(await statusWith(scene, lost), 401, 'and so does the end of its key')
  },
  async nonce(t, scene) {
    t.equal((await given(scene, await tokens(scene))).status, 200)
    const [forger, now] = [await issuerKey('ES256', 'of another'), Math.floor(scene.clock.now() / 1000)]
    const rows = {
      nonce: await tokens(scene, { id: { nonce: 'w'.repeat(43) } }),
      audience: await tokens(scene, { id: { aud: 'another client' } }),
      issuer: await tokens(scene, { id: { iss: 'https://elsewhere.example' } }),
      expired: await tokens(scene, { id: { iat: now - 1200, exp: now - 600 } }),
      signature: await tokens(scene, { by: forger }),
      malformed: { access_token: (await tokens(scene)).access_token },
    }
    for (const [reason, row] of Object.entries(rows)) {
      t.same(await words(await given(scene, row)), refused, reason)
      t.equal(reasons(scene).at(-1), reason)
    }
    const azp = await tokens(scene, { id: { aud: [client, 'another client'], azp: 'another client' } })
    t.same(await words(await given(scene, azp)), refused, 'azp')
  },
  async 'mix-up'(t, scene) {
    const before = scene.other.asked.length
    const answer = await scene.send('/console/logins/other', { ...proof, iss: 'https://honest.example' })
    t.same(await words(answer), refused)
    t.equal(scene.other.asked.length, before, 'the code goes to nobody')
    const foreign = await tokens(scene, { access: { iss: 'https://honest.example' } })
    t.same(await words(await given(scene, foreign)), refused, 'one issuer gives no token of another one')
    t.same(await words(await scene.send('/console/logins/nobody', proof)), refused)
  },
  async token(t, scene) {
    const elsewhere = await given(scene, await tokens(scene, { access: { aud: 'https://another.example' } }))
    t.same(await words(elsewhere), refused, 'a token for another API is not handed on')
    t.same(await words(await given(scene, await tokens(scene, { access: { groups: ['guests'] } }))), refused)
    const { id_token: id } = await tokens(scene)
    t.same(await words(await given(scene, { id_token: id, access_token: id })), refused, 'an ID token opens nothing')
  },
  async redirect(t, scene) {
    scene.gives(async () => ({ body: JSON.stringify(await tokens(scene)) }))
    const told = await scene.send('/console/logins/other', { ...proof, redirect: 'https://elsewhere.example/console' })
    t.equal(told.status, 400, 'a request names no address')
    t.equal((await scene.send('/console/logins/other', proof, { 'x-forwarded-host': 'elsewhere.example' })).status, 200)
    const request = scene.other.asked.findLast(({ path }) => path === '/token')!
    t.same(Object.fromEntries(new URLSearchParams(request.body.toString())), {
      ...{ resource: audience, grant_type: 'authorization_code', code: 'a-code', code_verifier: secret },
      ...{ redirect_uri: `${scene.base}/console`, client_id: client },
    })
    t.equal(request.headers.authorization, `Basic ${Buffer.from(`${client}:${clientSecret}`).toString('base64')}`)
    const listed = await fetch(`${scene.base}/console/logins`)
    const { logins } = ((await listed.json()) as { data: { logins: { authorize: string }[] } }).data
    t.same(
      logins.map(({ authorize }) => new URL(authorize).searchParams.get('redirect_uri')),
      [`${scene.base}/console`, `${scene.base}/console`],
    )
    t.equal(new URL(logins[1]!.authorize).searchParams.get('tenant'), '1')
    t.notMatch(JSON.stringify(logins), clientSecret)
  },
}

/** The same, of which a browser is a part. */
const inBrowser: Readonly<Record<string, (t: Test, scene: Scene) => Promise<void>>> = {
  async fragment(t, scene) {
    const link = await scene.link()
    const tab = await browse(scene)
    const { page } = tab
    const told: string[] = []
    page.on('request', (request) =>
      told.push(
        `${request.method()} ${request.url()} ${request.headers()['referer'] ?? ''} ${request.postData() ?? ''}`,
      ),
    )
    scene.clock.on(1_000)
    await page.goto(`${scene.base}/console#link=${link}`)
    await signedIn(page)
    t.same(
      told.filter((line) => line.includes(link)),
      [`POST ${scene.base}/console/session  {"link":"${link}"}`],
      'one body has it, and no address',
    )
    const session = await page.context().newCDPSession(page)
    const { entries } = await session.send('Page.getNavigationHistory')
    t.notOk(
      entries.some(({ url }) => url.includes(link)),
      'the history forgets it',
    )
    t.equal(await kept(page), '[{},{},""]', 'the session is in the memory of the tab alone')
    await page.reload()
    await signedIn(page)
    t.match(await page.innerText('.who'), /Signed in/, 'the session outlives a reload of the page')
    t.same(await tab.axe(), [])
    const left = page.waitForResponse((answer) => answer.request().method() === 'DELETE')
    await page.getByRole('button', { name: 'Sign out' }).click()
    t.equal((await left).status(), 200, 'signing out ends it at the gateway')
    await page.goto('about:blank')
    await page.goto(`${scene.base}/console#link=${link}`)
    t.match(await page.innerText('[role=alert]'), 'Access token missing or invalid')
    t.same(tab.faults, [])
    await page.context().close()
  },
  async post(t, scene) {
    const link = await scene.link()
    const { page } = await browse(scene)
    await page.goto(`${scene.other.url}/elsewhere`)
    const sent = await page.evaluate(
      async ([url, link]) => {
        const body = JSON.stringify({ link })
        const plain = await fetch(url!, { method: 'POST', mode: 'no-cors', body }).then(({ type }) => type)
        const read = await fetch(url!, { method: 'POST', body }).then(
          () => 'read',
          () => 'refused',
        )
        return [plain, read]
      },
      [`${scene.base}/console/session`, link],
    )
    t.same(sent, ['opaque', 'refused'])
    t.equal((await scene.send('/console/session', { link })).status, 201, 'the link is still whole')
    await page.context().close()
  },
  async login(t, scene) {
    const tab = await browse(scene)
    const { page } = tab
    const told: string[] = []
    page.on('request', (request) =>
      told.push(`${request.method()} ${request.url()} ${request.headers()['referer'] ?? ''}`),
    )
    await page.goto(`${scene.base}/console#/settings`)
    const begin = page.getByRole('button', { name: 'Sign in with company' })
    await begin.waitFor()
    t.same(await tab.axe(), [])
    await tab.shot('sign-in-login')
    const back = page.waitForRequest((request) => request.url().startsWith(`${scene.base}/console?`))
    scene.clock.on(1_000)
    await begin.click()
    const answer = (await back).url()
    await page.waitForSelector('main:not([aria-busy]) h1 >> text=Settings')
    t.equal(page.url(), `${scene.base}/console#/settings`, 'the reader is where the login began, without the code')
    const seen = ['Home', 'Live', 'Keys', 'Teams', 'Usage', 'Models', 'Sealed playground', 'Audit', 'Settings']
    t.same(await page.locator('nav a').allInnerTexts(), seen)
    t.equal(await kept(page), '[{},{},""]', 'the tab keeps neither the secrets of the login nor the token')
    t.notOk(
      told.some((line) => line.includes(' http') && line.includes('code=') && line.split(' ')[2] !== ''),
      'no referer',
    )
    const session = await page.context().newCDPSession(page)
    const { entries } = await session.send('Page.getNavigationHistory')
    t.notOk(
      entries.some(({ url }) => url.includes('code=')),
      'the history forgets the code',
    )
    const params = new URL(told.find((line) => line.includes('/auth?'))!.split(' ')[1]!).searchParams
    t.equal(params.get('code_challenge_method'), 'S256')

    const posts = () => told.filter((line) => line.startsWith('POST')).length
    const before = posts()
    await page.goto(answer)
    t.match(await page.innerText('[role=alert]'), 'This tab has not begun that login', 'an answer counts once')
    t.equal(posts(), before, 'and asks nobody')
    t.same(
      tab.faults.filter((fault) => !fault.startsWith('request: http://localhost:')),
      [],
    )
    await page.reload()
    await page.waitForSelector('#key')
    await page.context().close()
  },
  async state(t, scene) {
    const { page } = await browse(scene)
    const posts: string[] = []
    page.on('request', (request) => void (request.method() === 'POST' && posts.push(request.url())))
    await page.goto(`${scene.base}/console?code=of-eve&state=${secret}`)
    t.match(await page.innerText('[role=alert]'), 'This tab has not begun that login')
    await page.evaluate((state) => {
      const login = { name: 'other', state: `${state}x`, nonce: state, verifier: state, keep: false, hash: '' }
      sessionStorage.setItem('sealgate.console.login', JSON.stringify(login))
    }, secret)
    await page.goto(`${scene.base}/console?code=of-eve&state=${secret}`)
    t.match(await page.innerText('[role=alert]'), 'This tab has not begun that login')
    t.same(posts, [], 'a code that this tab did not ask for goes to nobody')
    t.equal(await kept(page), '[{},{},""]', 'and the login that it broke is over')
    t.equal(page.url(), `${scene.base}/console`)
    await page.context().close()
  },
  async code(t, scene) {
    const { page } = await browse(scene)
    // The tab never brings the code to the gateway.
    await page.route('**/console/logins/company', (route) => route.abort())
    const back = page.waitForRequest((request) => new URL(request.url()).searchParams.has('code'))
    await page.goto(`${scene.base}/console`)
    await page.getByRole('button', { name: 'Sign in with company' }).click()
    const code = new URL((await back).url()).searchParams.get('code')
    t.ok(code)
    scene.clock.on(minute)
    const answer = await scene.send('/console/logins/company', { ...proof, code })
    t.same(await words(answer), refused, 'a code without its verifier is worth nothing')
    t.equal(reasons(scene).at(-1), 'code')
    await page.context().close()
  },
}

/** A session for a key, with the cookie that renews the session. */
const sessionFor = async ({ base }: Scene, key: string) => {
  const answer = await fetch(`${base}/console/session/key`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'sec-fetch-site': 'same-origin' },
  })
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';')
  return { cookie, credential: await credentialIn(answer) }
}

/** Two tabs sign in with one key, and a third one with another key: the browser keeps one cookie. */
const besideEachOther = async (t: Test, scene: Scene): Promise<void> => {
  const renewed = async (cookie: string, credential: string | null) => {
    const shown: Record<string, string> = credential === null ? {} : { authorization: `Bearer ${credential}` }
    const answer = await fetch(`${scene.base}/console/session/renewal`, {
      method: 'POST',
      headers: { cookie, 'sec-fetch-site': 'same-origin', ...shown },
    })
    return answer.status === 200 ? credentialIn(answer) : answer.status
  }
  const [key, other] = [await scene.gateway.keys.create({ name: 'of tabs' }), await scene.gateway.keys.create({})]
  const [first, foreign] = [await sessionFor(scene, key.credential), await sessionFor(scene, other.credential)]
  scene.clock.on(30 * minute)
  const second = await sessionFor(scene, key.credential)
  t.not(second.cookie, first.cookie, 'each sign-in has a cookie of its own')
  t.equal(await renewed(second.cookie, first.credential), first.credential)
  t.equal(
    await renewed(second.cookie, foreign.credential),
    second.credential,
    'a cookie renews no session of another key',
  )
  t.equal(await renewed('', first.credential), 401, 'without the cookie nothing is renewed')
  scene.clock.on(45 * minute)
  t.equal(await statusWith(scene, foreign.credential), 401)
  t.equal(await renewed(second.cookie, null), second.credential)
  t.equal(await renewed(second.cookie, second.credential), second.credential)
  for (const minutes of [...Array<number>(7).fill(55), 25]) {
    t.equal(await renewed(second.cookie, first.credential), first.credential, 'the older session goes on')
    scene.clock.on(minutes * minute)
  }
  t.equal(await statusWith(scene, first.credential), 401, 'its own eight hours end the older session')
  t.equal(await renewed(second.cookie, first.credential), second.credential, 'what has ended stays so')
  t.equal(await statusWith(scene, first.credential), 401)
  await scene.gateway.keys.revoke(key.row.id, null)
  t.equal(await renewed(second.cookie, first.credential), 401)
}

/** Two tabs of a browser show the form, and both sign in. */
const twoTabs = async (t: Test, scene: Scene): Promise<void> => {
  const context = await (await scene.browser()).newContext()
  const tabs = [await context.newPage(), await context.newPage()] as const
  const [first] = tabs
  await first.clock.install()
  for (const tab of tabs) await tab.goto(`${scene.base}/console`)
  for (const tab of tabs) {
    await tab.fill('#key', scene.key)
    await tab.press('#key', 'Enter')
    await tab.waitForSelector('nav')
  }
  for (const minutes of [50, 50]) {
    scene.clock.on(minutes * minute)
    await first.clock.fastForward(minute)
    const renewal = first.waitForResponse(/\/session\/renewal$/)
    await first.keyboard.press('Shift')
    await (await renewal).finished()
  }
  await first.getByRole('link', { name: 'Keys' }).click()
  await first.getByRole('heading', { name: 'Keys', level: 1 }).waitFor()
  await context.close()
}

/** The cookie is that of the key that signed in last. */
const otherKey = async (t: Test, scene: Scene): Promise<void> => {
  // Each second has its allowance of renewals, and the clock stands.
  scene.clock.on(minute)
  const { credential: small } = await scene.gateway.keys.create({ name: 'small', scopes: ['models.read'] })
  const context = await (await scene.browser()).newContext()
  const [first, second] = [await context.newPage(), await context.newPage()]
  const tabs = [
    [first, small],
    [second, scene.key],
  ] as const
  for (const [tab] of tabs) await tab.goto(`${scene.base}/console`)
  for (const [tab, key] of tabs) {
    await tab.fill('#key', key)
    await tab.press('#key', 'Enter')
    await tab.waitForSelector('nav')
    await tab.getByRole('link', { name: 'Models' }).click()
    await tab.getByRole('heading', { name: 'Models', level: 1 }).waitFor()
  }
  await first.reload()
  t.match(await first.getByRole('alert').innerText(), 'with another key. Sign in again.')
  t.equal(await first.locator('nav').count(), 0, 'the tab has no page of the other key')
  await first.reload()
  await first.getByRole('alert').waitFor()
  await first.fill('#key', small)
  await first.press('#key', 'Enter')
  await first.waitForSelector('nav')
  t.equal(await first.getByRole('link', { name: 'Keys' }).count(), 0)
  await second.getByRole('link', { name: 'Keys' }).click()
  await second.getByRole('searchbox').fill('small')
  await second.waitForURL(/q=small/)
  await second.reload()
  t.match(await second.getByRole('alert').innerText(), 'with another key. Sign in again.', 'also behind a search')
  const third = await context.newPage()
  await third.goto(`${scene.base}/console`)
  await third.waitForSelector('nav')
  await context.close()
  scene.clock.on(minute)
}

/** Two gateways at two ports of one host. */
const neighbours = async (t: Test, scene: Scene): Promise<void> => {
  const other = await running(t, { ...memory(), fetch: use(doors) })
  const context = await (await scene.browser()).newContext()
  const tabs: Page[] = []
  for (const { base, key } of [scene, other]) {
    const page = await context.newPage()
    await (await tabOf(page, base)).signIn(key)
    tabs.push(page)
  }
  for (const page of tabs) {
    await page.reload()
    await signedIn(page)
  }
  await context.close()
}

t.test('signing in to the console', async (t) => {
  const scene = await stage(t)
  // The real issuer has the time of this machine, which the clock leaves further and further behind.
  for (const [name, attack] of Object.entries(inBrowser))
    await t.test(name, { skip: withoutChromium }, (t) => attack(t, scene))
  for (const [name, attack] of Object.entries(attacks)) await t.test(name, (t) => attack(t, scene))

  await t.test('sessions of a key stand beside each other', (t) => besideEachOther(t, scene))
  await t.test('a tab in use goes on where another one signs in', { skip: withoutChromium }, (t) => twoTabs(t, scene))
  await t.test('a tab says where another key has signed in', { skip: withoutChromium }, (t) => otherKey(t, scene))
  await t.test('gateways of one host have a session each', { skip: withoutChromium }, (t) => neighbours(t, scene))

  await t.test('an issuer that is away is no fault of the reader', async (t) => {
    for (const [status, body] of [
      [500, {}],
      [401, { error: 'invalid_client' }],
      [400, { error: 'invalid_target' }],
    ] as const)
      t.equal((await given(scene, body, status)).status, 503, `${status}`)
    t.same(await words(await given(scene, { error: 'invalid_grant' }, 400)), refused)
    scene.gives(() => ({ body: 'no JSON' }))
    t.equal((await scene.send('/console/logins/other', proof)).status, 503)
    const fitting = { ...(await tokens(scene)), more: 'x'.repeat(60 * 1024) }
    t.equal((await given(scene, fitting)).status, 200)
    t.equal((await given(scene, { ...fitting, more: 'x'.repeat(65 * 1024) })).status, 503, 'an answer has an end')
  })

  await t.test('a body without a key is small and complete', async (t) => {
    t.equal((await scene.send('/console/session', { link: 'x'.repeat(2_000) })).status, 400)
    t.equal((await scene.send('/console/session', {})).status, 400)
    t.equal((await scene.send('/console/session', { link: 7 })).status, 400)
  })

  await t.test('the table and the tests are the same', async (t) => {
    const [, section = ''] = (await readFile('docs/console.md', 'utf8')).split(
      '## What could be tried against signing in',
    )
    const [table = ''] = section.split('\n## ')
    const rows = [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name)
    t.same(rows.sort(), [...Object.keys(attacks), ...Object.keys(inBrowser)].sort())
  })

  await t.test('no secret stands in the log', async (t) => {
    t.notMatch(JSON.stringify(scene.logged), new RegExp(`sk_console_|a-code|${secret}|${clientSecret}|link=`))
    const { rows } = await scene.gateway.audit.list({ where: { action: 'session.open' }, limit: 1 })
    t.match(rows, [{ row: { outcome: 'done', object: /^key_/ } }])
  })
})
