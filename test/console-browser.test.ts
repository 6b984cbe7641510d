import { usages } from '../plugins/usage/usage-rows.ts'
import { MetadataStore } from '../core/ports/metadata-store.ts'
import './fakes/unwatched.ts'
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { scopes } from '../core/access/caller.ts'
import { withoutChromium } from './fakes/chromium.ts'
import { looks } from './fakes/console-looks.ts'
import { type ConsoleStage, type Tab, consoleStage, hostile } from './fakes/console-stage.ts'

const text = async ({ page }: Tab, selector = 'main') => page.innerText(selector)
const row = ({ page }: Tab, name: string) =>
  page.locator('tr', { has: page.getByRole('rowheader', { name, exact: true }) })
const owned = ({ page }: Tab) => page.evaluate('"owned" in globalThis')

/** Counts are written a moment after the answer. */
const counted = async ({ gateway }: ConsoleStage, requests: number): Promise<void> => {
  for (let tries = 0; tries < 300; tries++) {
    const { rows } = await gateway.supply({ store: MetadataStore }).store.list(usages, {})
    if (rows.reduce((sum, { row }) => sum + (row.requests ?? 0), 0) >= requests) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('the usage was not written')
}

const signingIn = async (t: Test, stage: ConsoleStage) => {
  const tab = await stage.browse()
  const { page } = tab
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await page.goto(`${stage.base}/console`)
  t.same(await tab.axe(), [])
  await tab.shot('sign-in')
  await page.fill('#key', 'my password')
  await page.press('#key', 'Enter')
  t.match(await page.innerText('[role=alert]'), 'A key begins with sk_live_')
  t.notOk(
    asked.some((url) => !/\/console(?:\/|$)/.test(new URL(url).pathname) && !url.startsWith('data:')),
    'what is no key is asked of nobody',
  )
  await page.fill('#key', `sk_live_${'1'.repeat(44)}`)
  await page.press('#key', 'Enter')
  await page.waitForFunction(() => document.querySelector('[role=alert]')?.textContent.includes('key') === false)
  t.notMatch(await text(tab), 'A key begins')
  t.equal(await page.locator('nav').count(), 0)
  await tab.signIn(stage.key)
  const kept = () => page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie]))
  t.equal(await kept(), '[{},{},""]', 'neither the key nor its session stands in the tab')
  t.notOk(page.url().includes(stage.key))
  t.notOk(
    asked.some((url) => url.includes(stage.key)),
    'the key is in no address',
  )
  await page.reload()
  await page.waitForSelector('nav')
  t.equal(await kept(), '[{},{},""]', 'the session of the browser stands in a cookie that no script reads')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.waitForSelector('#key')
  await page.reload()
  await page.waitForSelector('#key')
  await tab.signIn(stage.key)
  const [first, second] = [page, await page.context().newPage()]
  await second.goto(`${stage.base}/console#/settings`)
  await second.getByRole('button', { name: 'Sign out everywhere' }).click()
  await second.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click()
  await second.waitForSelector('#key')
  await first.getByRole('link', { name: 'Keys' }).click()
  await first.waitForSelector('#key')
  t.equal(await first.locator('nav').count(), 0, 'signing out everywhere ends the other tab')
  t.same(tab.faults, [])
  await page.context().close()
}

const ofAKey = async (t: Test, stage: ConsoleStage, given: readonly (typeof scopes)[number][], expected: string[]) => {
  const { credential } = await stage.gateway.keys.create({ name: 'narrow', scopes: given })
  const tab = await stage.browse()
  await tab.signIn(credential)
  t.same(await tab.page.locator('nav a').allInnerTexts(), expected)
  t.equal(await tab.page.locator('main [role=alert]').count(), 0, 'its Home has no refusal')
  await tab.go('#/keys', expected.includes('Keys') ? 'Keys' : 'Not here')
  t.same(tab.faults, [])
  await tab.page.context().close()
}

const making = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<string> => {
  const { page } = tab
  await tab.go('#/keys/new', 'New key')
  // By the keyboard alone: from the heading to the first choice, and on.
  await page.getByRole('radio', { name: /^Metrics/ }).focus()
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Tab')
  await page.keyboard.type('from the console')
  await page.keyboard.press('Tab')
  await page.keyboard.type('priced, unpriced')
  await page.keyboard.press('Tab')
  await page.keyboard.press('ArrowDown')
  // Past the head of the further fields.
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  t.match(await page.textContent('main'), 'empty for that of the key in use')
  await page.keyboard.press('Enter')
  const credential = await page.innerText('.secret code')
  t.match(credential, /^sk_live_/)
  t.equal(await page.evaluate(() => document.activeElement?.textContent), credential, 'the key has the focus')
  for (const name of ['curl', 'openai in JavaScript', 'openai in Python', 'Claude Code', 'Codex, in config.toml'])
    t.equal(await page.getByText(name, { exact: true }).count(), 1, name)
  t.same(await tab.axe(), [])
  await tab.shot('key-made')
  const use = await fetch(`${stage.base}/v1/models`, { headers: { authorization: `Bearer ${credential}` } })
  t.same(
    ((await use.json()) as { data: { id: string }[] }).data.map(({ id }) => id).sort(),
    ['priced', 'unpriced'],
    'the key works, for these models',
  )
  await tab.go('#/home', 'Home')
  await tab.go('#/keys', 'Keys')
  t.notOk((await page.content()).includes(credential), 'the key is shown once')
  return credential
}

const searching = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<void> => {
  const { page } = tab
  const make = (name: string, team?: string) =>
    stage.gateway.keys.create({ name, scopes: ['models.read'], ...(team !== undefined && { team }) })
  await make('nightly report', 'blue')
  await make('nightly backup')
  const names = async () => {
    await page.waitForSelector('main[aria-busy], main [aria-busy]', { state: 'detached' })
    return page.locator('tbody th a').allInnerTexts()
  }
  await tab.go('#/keys', 'Keys')
  await page.fill('input[type=search]', 'nightly')
  t.same((await names()).toSorted(), ['nightly backup', 'nightly report'])
  await page.getByRole('button', { name: 'Name' }).click()
  t.same(await names(), ['nightly backup', 'nightly report'])
  await page.keyboard.press('Enter')
  t.same(await names(), ['nightly report', 'nightly backup'], 'the head keeps the focus, and turns the order')
  await page.fill('[data-filter=team]', 'blue')
  await page.keyboard.press('Enter')
  t.same(await names(), ['nightly report'])
  t.match(page.url(), /#\/keys\?q=nightly&sort=Name&down=1&team=blue$/)
  t.same(await tab.axe(), [])
  await tab.shot('keys-searched')
  await tab.go('#/home', 'Home')
  await page.goBack()
  await page.waitForSelector('h1 >> text=Keys')
  t.same(await names(), ['nightly report'], 'the address shows the same list again')
}

/** By the keyboard alone, from any page. */
const jumping = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<void> => {
  const { page } = tab
  await tab.go('#/models', 'Models and backends')
  const opened = async (words: string) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('textbox').waitFor()
    await page.keyboard.type(words)
  }
  await opened('nightly rep')
  await page.getByRole('link', { name: /^Key nightly report/ }).waitFor()
  t.same(await tab.axe(), [])
  await tab.shot('jump')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'nightly report', level: 1 }).waitFor()
  await opened('team blue')
  await page.getByRole('link', { name: 'Team blue' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'blue', level: 1 }).waitFor()
  t.match(page.url(), /#\/teams\/blue$/)
  await opened('globalThis')
  await page.locator('dialog', { hasText: hostile.model }).waitFor()
  t.match(await page.innerText('dialog'), hostile.model, 'a hostile name is text')
  await page.keyboard.press('Escape')
  await page.waitForSelector('dialog', { state: 'detached' })
  const id = '01a1fc7c-78dd-71b9-a66b-ea0f67dc77a8'
  await opened(id)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'One request' }).waitFor()
  t.match(page.url(), new RegExp(`#/live/${id}$`))
  t.equal(await owned(tab), false)
  await tab.go('#/audit?act=key.create', 'Audit')
  const acts = () => page.locator('tbody tr').count()
  t.equal(await page.inputValue('[data-filter=act]'), 'key.create', 'the address filters the audit')
  await page.fill('input[type=search]', 'no such word')
  t.equal(await acts(), 1)
  t.match(await page.innerText('tbody'), 'No row fits the search.')
}

const changing = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<void> => {
  const { page } = tab
  const { row } = await stage.gateway.keys.create({ name: 'to change', scopes: ['models.read'] })
  const stored = async () => stage.gateway.keys.get(row.id, 'default')
  await tab.go(`#/keys/${row.id}`, 'to change')
  // By the keyboard alone: the form opens, the budget is written and sent.
  await page.getByText('Change this key').focus()
  await page.keyboard.press('Enter')
  await page.getByLabel('Budget a month').focus()
  await page.keyboard.type('25')
  await page.keyboard.press('Enter')
  await page.getByText('The key is changed.').waitFor()
  t.match(await stored(), { limits: { costPerMonth: 25 } })
  t.match(await text(tab), /Budget a month: 25/)
  t.same(await tab.axe(), [])
  await tab.shot('key-changed')
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('The change is undone.').waitFor()
  t.same((await stored())?.limits, {})
  await page.getByLabel('Team').fill('blue')
  await page.getByLabel('Models', { exact: true }).fill('priced')
  await page.getByLabel('Addresses').fill('127.0.0.0/8')
  await page.getByRole('checkbox', { name: 'api_key.read', exact: true }).check()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The key is changed.').waitFor()
  t.same((await stored())?.limits, {}, 'what was undone stays so')
  t.match(await stored(), {
    ...{ team: 'blue', models: ['priced'], addresses: ['127.0.0.0/8'], scopes: ['models.read', 'api_key.read'] },
  })
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('The change is undone.').waitFor()
  t.match(await stored(), { team: null, models: null, addresses: null, scopes: ['models.read'], version: 4 })
  await tab.go('#/home', 'Home')
  await tab.go(`#/keys/${row.id}`, 'to change')
  t.equal(
    await page.getByRole('cell', { name: 'key.update' }).count(),
    4,
    'each change and each way back is in the audit',
  )
  await page.getByText('Change this key').click()
  await page.getByLabel('Expires').focus()
  await page.keyboard.type('123120270900AM')
  t.equal(await page.getByLabel('Expires').inputValue(), '2027-12-31T09:00', 'a year has four digits')
}

const ending = async (t: Test, stage: ConsoleStage, tab: Tab, credential: string): Promise<void> => {
  const { page } = tab
  const works = async (key: string) =>
    (await fetch(`${stage.base}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status
  const save = async (label: string, value: string): Promise<void> => {
    if (!(await page.getByLabel(label).isVisible())) await page.getByText('Change this key').click()
    await page.getByLabel(label).fill(value)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The key is changed.').waitFor()
  }
  await page.getByRole('link', { name: 'from the console' }).click()
  await save('Budget a day', '0.005')
  await page.getByRole('button', { name: 'Rotate' }).click()
  await page.getByRole('combobox', { name: 'How long both keys work' }).selectOption('1 hour')
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  await page.waitForSelector('.secret')
  t.match(await text(tab), /Both keys work until/)
  const heir = await page.innerText('.secret code')
  t.equal(await works(credential), 200)
  t.equal(await works(heir), 200)
  const { rows } = await stage.gateway.keys.list('default', 100, 0)
  const [young, old] = rows.filter(({ name }) => name === 'from the console')
  t.same(young!.models, old!.models, 'the heir has the same powers')
  t.same(young!.scopes, old!.scopes)
  t.same(young!.limits, { costPerDay: 0.005 }, 'also those that were changed a moment ago')
  t.ok(old!.expires_at !== null && old!.expires_at - Date.now() <= 3_600_000, 'the old key ends')
  t.equal(await page.getByRole('button', { name: 'Rotate' }).count(), 0)
  await save('Budget a week', '7')
  const changed = (await stage.gateway.keys.list('default', 100, 0)).rows.find(({ id }) => id === old!.id)
  t.same(changed!.limits, { costPerDay: 0.005, costPerWeek: 7 }, 'a key is changed after its rotation')
  await page.getByRole('link', { name: 'See the key' }).click()
  await page.getByRole('button', { name: 'Revoke' }).click()
  await page.keyboard.press('Escape')
  await page.waitForSelector('dialog', { state: 'detached' })
  t.equal(await works(heir), 200, 'Escape revokes nothing')
  await page.getByRole('button', { name: 'Revoke' }).click()
  t.same(await tab.axe(), [], 'the question')
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.waitForSelector('.countdown[data-left]')
  t.match(await text(tab), /State\s+revoked/)
  t.equal(await page.getByText('Change this key').count(), 0, 'nobody changes what is revoked')
  await page.locator('dialog').waitFor({ state: 'detached' })
  t.equal(await page.evaluate(() => document.activeElement?.tagName), 'H1', 'the keyboard stands on the page')
  t.equal(await works(heir), 401)
  await page.clock.runFor(6_000)
  await page.waitForSelector('.countdown:not([data-left])')
  t.match(await text(tab), 'Revoked: refused everywhere.')
  await tab.go('#/keys', 'Keys')
  t.match(await page.innerText('table'), /revoked/)
}

const using = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<void> => {
  const { page } = tab
  await tab.go('#/usage', 'Usage and cost')
  t.equal(await page.locator('.plot rect.hatched:not([height="0"])').count(), 1, 'what has no price is hatched')
  await tab.go('#/usage?by=model', 'Usage and cost')
  await page.getByRole('heading', { name: 'Usage by model' }).waitFor()
  t.match(await row(tab, 'priced').innerText(), /\t0\.04$/, 'a price is a cost')
  const unpriced = await row(tab, 'unpriced').innerText()
  t.match(unpriced, /unpriced$/)
  t.notMatch(unpriced, /\t0\.00$/, 'and no price is never 0')
  await page.getByRole('searchbox').fill('unpr')
  t.same(await page.locator('tbody th').allInnerTexts(), ['unpriced'])
  t.match(page.url(), /#\/usage\?by=model&q=unpr$/, 'the search stands in the address')
  await page.getByRole('searchbox').fill('')
  const waiting = page.waitForEvent('download')
  await page.getByRole('button', { name: 'CSV' }).click()
  const csv = await readFile(await (await waiting).path(), 'utf8')
  t.match(csv, /^Model,Requests,Input,/)
  t.match(csv, /\r\nunpriced,1,.*,1,\r\n/, 'an unknown cost is an empty cell')
  await page.getByText('as curl').click()
  t.match(await page.innerText('.curl code'), /\/admin\/usage\/sums\?by=model&from=.*\n.*\$SEALGATE_KEY/)
  t.notOk((await page.content()).includes(stage.key))
  await page.reload()
  await page.getByRole('rowheader', { name: 'unpriced', exact: true }).waitFor()
  t.match(page.url(), /#\/usage\?by=model$/, 'the address leads back to the same table')
  await page.getByRole('link', { name: 'priced', exact: true }).click()
  await page.getByText('Only model').waitFor()
  t.match(page.url(), /model=priced/)
  await page.getByRole('link', { name: 'By backend' }).click()
  await page.getByText('Usage by backend is that of all keys, teams and models.').waitFor()
}

const keyCount = async ({ gateway }: ConsoleStage): Promise<number> => (await gateway.keys.list(null, 1, 0)).total

interface Scene {
  readonly stage: ConsoleStage
  /** The console, signed in with a key that is kept. */
  readonly inside: Tab
  /** A page of another origin. */
  readonly outside: Page
  /** The addresses of all requests of the console, each with its `referer`. */
  readonly asked: readonly string[]
}

/** By the name of the row in docs/console.md. */
const attacks: Readonly<Record<string, (t: Test, scene: Scene) => Promise<void>>> = {
  async frame(t, { stage, outside }) {
    await outside.evaluate((url) => {
      const frame = document.createElement('iframe')
      frame.src = url
      const loaded = new Promise((resolve) => frame.addEventListener('load', resolve))
      document.body.append(frame)
      return loaded.then(() => undefined)
    }, `${stage.base}/console`)
    t.equal(await outside.frames()[1]!.locator('#key').count(), 0, 'the frame shows no console')
  },
  async form(t, { stage, outside }) {
    const before = await keyCount(stage)
    const answer = outside.waitForResponse((answer) => answer.url().endsWith('/admin/keys'))
    await outside.evaluate(() => document.querySelector('form')?.submit())
    t.equal((await answer).status(), 401)
    await outside.waitForURL(`${stage.base}/admin/keys`)
    t.equal(await keyCount(stage), before)
  },
  async fetch(t, { stage, outside }) {
    const read = (path: string) =>
      outside.evaluate(
        (url) =>
          fetch(url, { credentials: 'include' }).then(
            () => 'read',
            () => 'refused',
          ),
        stage.base + path,
      )
    t.equal(await read('/admin/keys'), 'refused')
    t.equal(await read('/console'), 'refused')
  },
  async write(t, { stage, outside }) {
    const written = (method: string, path: string, type: string) =>
      outside.evaluate(
        ([method, url, type]) =>
          fetch(url!, {
            ...{ method: method!, credentials: 'include', headers: { 'content-type': type! } },
            ...(method !== 'DELETE' && { body: '{"name":"stolen","budgets":{},"version":0}' }),
          }).then(
            ({ status }) => status,
            () => 'refused',
          ),
        [method, stage.base + path, type],
      )
    const teams = async () => (await (await stage.call('GET', '/admin/teams?limit=100')).json()).data.teams
    await stage.call('POST', '/admin/teams', { name: 'target' })
    const { row } = await stage.gateway.keys.create({ name: 'target' })
    const before = [await teams(), await stage.gateway.keys.get(row.id, null)]
    for (const type of ['application/json', 'text/plain'])
      for (const [method, path] of [
        ['POST', '/admin/teams'],
        ['PATCH', '/admin/teams/target'],
        ['DELETE', '/admin/teams/target'],
        ['PATCH', `/admin/keys/${row.id}`],
        ['DELETE', `/admin/keys/${row.id}`],
        ['POST', '/admin/configuration/try'],
      ] as const)
        t.equal(await written(method, path, type), 'refused', `${method} as ${type}`)
    t.same([await teams(), await stage.gateway.keys.get(row.id, null)], before, 'nothing is written')
  },
  async opener(t, { stage, outside }) {
    const opened = outside.waitForEvent('popup')
    await outside.evaluate((url) => void open(url), `${stage.base}/console`)
    const popup = await opened
    await popup.waitForSelector('#key')
    t.equal(await popup.evaluate(() => opener === null), true, 'neither page holds the other')
    await popup.close()
  },
  async cookie(t, { stage, inside }) {
    const [cookie, ...others] = await inside.page.context().cookies()
    t.same(others, [])
    t.match(cookie, { httpOnly: true, sameSite: 'Strict', path: '/console/session' })
    const carries = (path: string, method = 'GET') =>
      fetch(stage.base + path, { method, headers: { cookie: `${cookie!.name}=${cookie!.value}` } })
    for (const path of ['/admin/self', '/admin/keys', '/v1/models']) t.equal((await carries(path)).status, 401, path)
    t.equal((await carries('/admin/keys', 'POST')).status, 401)
    t.equal((await carries('/console/session', 'DELETE')).status, 401)
    const before = cookie!.value
    await inside.page.context().addCookies([{ ...cookie!, value: 'x'.repeat(43) }])
    await inside.page.goto('about:blank')
    await inside.signIn(stage.key)
    const [fresh] = await inside.page.context().cookies()
    t.notOk(['x'.repeat(43), before].includes(fresh!.value), 'each sign-in has a cookie of its own')
  },
  async renewal(t, { stage, inside, outside }) {
    const [cookie] = await inside.page.context().cookies()
    const renew = (headers: Record<string, string>) =>
      fetch(`${stage.base}/console/session/renewal`, {
        method: 'POST',
        headers: { cookie: `${cookie!.name}=${cookie!.value}`, ...headers },
      })
    for (const site of ['cross-site', 'same-site', 'none'])
      t.equal((await renew({ 'sec-fetch-site': site })).status, 401, site)
    t.equal((await renew({ origin: stage.other.url })).status, 401, 'an old browser')
    t.equal((await renew({ 'sec-fetch-site': 'same-origin' })).status, 200)
    await outside.context().addCookies([cookie!])
    const read = await outside.evaluate(
      (url) =>
        fetch(url, { method: 'POST', credentials: 'include' }).then(
          () => 'read',
          () => 'refused',
        ),
      `${stage.base}/console/session/renewal`,
    )
    t.equal(read, 'refused')
    await outside.context().clearCookies()
  },
  async address(t, { stage, asked }) {
    t.ok(asked.length > 10)
    t.notOk(asked.some((request) => request.includes(stage.key)))
    t.ok(
      asked.every((request) => request.endsWith(' ')),
      'no request says where it comes from',
    )
  },
  async markup(t, { inside }) {
    const text = await inside.page.evaluate(() => {
      try {
        document.body.innerHTML = '<img src=x onerror="globalThis.owned=1">'
        return 'taken'
      } catch (error) {
        return (error as Error).name
      }
    })
    t.equal(text, 'TypeError', 'the browser takes no text for markup')
  },
  async script(t, { stage, inside }) {
    const ran = await inside.page.evaluate(async (url) => {
      const script = document.createElement('script')
      script.append('globalThis.owned = 1')
      document.body.append(script)
      const sent = await fetch(url, { mode: 'no-cors' }).then(
        () => 'sent',
        () => 'refused',
      )
      return ['owned' in globalThis, sent]
    }, `${stage.other.url}/elsewhere`)
    t.same(ran, [false, 'refused'], 'no inline script runs, and nothing is sent elsewhere')
  },
  async storage(t, { stage, inside }) {
    const second = await inside.page.context().newPage()
    await second.goto(`${stage.base}/console`)
    await second.waitForSelector('nav')
    for (const page of [inside.page, second])
      t.equal(await page.evaluate(() => sessionStorage.length + localStorage.length), 0, 'no tab stores a key')
  },
}

const attacked = async (t: Test, stage: ConsoleStage): Promise<void> => {
  const [, table = ''] = (await readFile('docs/console.md', 'utf8')).split(/^## What could be tried against .*$/m)
  const rows = [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name)
  t.same(rows, Object.keys(attacks), 'the table and the tests are the same')
  const inside = await stage.browse()
  const asked: string[] = []
  inside.page.on('request', (request) => asked.push(`${request.url()} ${request.headers()['referer'] ?? ''}`))
  await inside.signIn(stage.key)
  const { page: outside } = await stage.browse()
  for (const [name, attack] of Object.entries(attacks)) {
    await outside.goto(`${stage.other.url}/elsewhere`)
    await t.test(name, (t) => attack(t, { stage, inside, outside, asked }))
  }
}

const reloading = async (t: Test, { page, go, axe }: Tab): Promise<void> => {
  await go('#/settings', 'Settings')
  await page.getByRole('button', { name: 'Reload' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Reload' }).click()
  t.match(await dialog.getByRole('alert').innerText(), 'models.x Expected a model')
  t.same(await axe(), [])
  await dialog.getByRole('button', { name: 'Reload' }).click()
  await page.getByText('is in effect').waitFor()
  await dialog.waitFor({ state: 'detached' })
}

t.test('the console in a browser', { skip: withoutChromium }, async (t) => {
  const stage = await consoleStage(t)
  await stage.gateway.keys.create({ name: hostile.key })
  for (const model of ['priced', 'priced', 'unpriced', 'away', 'away', 'away', hostile.model]) await stage.chat(model)
  await counted(stage, 4)

  await t.test('a key signs in, and stays in the memory of the tab', (t) => signingIn(t, stage))

  await t.test('a key sees the pages of what it may read', async (t) => {
    const plain = ['Home', 'Models', 'Sealed playground', 'Settings']
    await ofAKey(t, stage, ['chats.completion'], ['Home', 'Models', 'Decisions', 'Sealed playground', 'Settings'])
    await ofAKey(t, stage, [], plain)
    await ofAKey(
      t,
      stage,
      ['api_key.read'],
      ['Home', 'Live', 'Keys', 'Teams', 'Usage', 'Models', 'Sealed playground', 'Audit', 'Settings'],
    )
    await ofAKey(t, stage, ['files.encrypted.read'], ['Home', 'Models', 'Sealed playground', 'Files', 'Settings'])
  })

  const tab = await stage.browse({ locale: 'en-GB', timezoneId: 'Pacific/Auckland' })
  await tab.page.clock.install()
  await tab.signIn(stage.key)

  await t.test('what is wrong now stands in sentences', async (t) => {
    t.match(await text(tab), /Model away: no call of backend broken is answered since .*, 3 failed, the last with 500/)
    t.match(await tab.page.title(), /^\(\d\) Home/)
    t.match(await row(tab, 'priced').innerText(), /^priced\s+2\s/)
    await tab.page.getByRole('link', { name: 'By backend' }).click()
    await tab.page.getByRole('link', { name: 'house', exact: true }).click()
    await tab.page.getByRole('heading', { name: 'Traffic of backend house' }).waitFor()
    await tab.go('#/home', 'Home')
    t.match(await text(tab), 'Pacific/Auckland')
    t.match(await text(tab), /Budget\s+0\.4%\s+organisation default, day/, 'what was spent of the budget')
    await tab.page.getByRole('heading', { name: 'Now' }).evaluate((heading) => heading.setAttribute('data-kept', ''))
    const renewed = tab.page.waitForResponse(/health\/ready/)
    await tab.page.getByRole('button', { name: 'Refresh' }).click()
    await renewed
    await tab.page.waitForTimeout(500)
    t.equal(await tab.page.locator('[data-kept]').count(), 1, 'words that stay are not read aloud again')
    const release = stage.gateway.hold()
    await tab.page.getByRole('button', { name: 'Refresh' }).click()
    await tab.page.getByText('The gateway is not ready: Starting.').waitFor()
    release()
  })

  await t.test('keys are searched, ordered and filtered, and the address keeps that', (t) => searching(t, stage, tab))
  await t.test('Ctrl-K leads to pages, keys, teams, models and requests', (t) => jumping(t, stage, tab))
  await t.test('a budget of a key is changed by the keyboard, and taken back', (t) => changing(t, stage, tab))
  await t.test('a key is made by the keyboard, rotated and revoked', async (t) => {
    await ending(t, stage, tab, await making(t, stage, tab))
  })

  await t.test('a reload is asked for, and refused in the words of the gateway', (t) => reloading(t, tab))

  await t.test('usage has its costs, its table and its address', (t) => using(t, stage, tab))

  await t.test('names with markup are text', async (t) => {
    await tab.go('#/keys', 'Keys')
    t.match(await text(tab), hostile.key)
    await tab.page.getByRole('link', { name: hostile.key }).click()
    await tab.page.getByRole('heading', { name: hostile.key }).waitFor()
    await tab.go('#/usage?by=model', 'Usage and cost')
    t.match(await text(tab), hostile.model)
    await tab.go('#/models', 'Models and backends')
    t.match(await text(tab), hostile.model)
    await tab.go(`#/usage?model=${encodeURIComponent(hostile.model)}`, 'Usage and cost')
    await tab.go(`#/${encodeURIComponent(hostile.model)}`, 'Not here')
    t.equal(await owned(tab), false)
  })

  await t.test('both schemes, narrow and wide: axe finds nothing', async (t) => {
    const { rows } = await stage.gateway.keys.list('default', 100, 0)
    const lives = rows.find(({ name }) => name === hostile.key)!
    await looks(t, tab, [
      ['#/home', 'Home', 'home'],
      ['#/keys', 'Keys', 'keys'],
      [`#/keys/${lives.id}`, hostile.key, 'key'],
      ['#/keys/new', 'New key', 'key-new'],
      ['#/usage', 'Usage and cost', 'usage'],
      ['#/models', 'Models and backends', 'models'],
      ['#/audit', 'Audit', 'audit'],
      ['#/settings', 'Settings', 'settings'],
    ])
  })

  await t.test('nothing went elsewhere, and the policy was never broken', (t) => {
    t.same(tab.faults, [])
    t.end()
  })

  await t.test('the console withstands each row of the table of attacks', (t) => attacked(t, stage))

  await t.test('a key that is revoked meanwhile leaves the console', async (t) => {
    const { credential, row } = await stage.gateway.keys.create({ name: 'short' })
    const tab = await stage.browse()
    await tab.signIn(credential)
    await stage.gateway.keys.revoke(row.id, null)
    await tab.page.getByRole('link', { name: 'Settings' }).click()
    await tab.page.waitForSelector('#key')
    t.notOk((await tab.page.content()).includes(credential))
    await tab.page.context().close()
  })
})
