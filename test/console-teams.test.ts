import './fakes/unwatched.ts'
import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { withoutChromium } from './fakes/chromium.ts'
import { looks } from './fakes/console-looks.ts'
import { type ConsoleStage, type Tab, consoleStage, hostile } from './fakes/console-stage.ts'
import { until } from './until.ts'

const text = ({ page }: Tab) => page.innerText('main')
const month = new Date().toISOString().slice(0, 7)

/** A key of the default organisation that asks past the page. */
const asking =
  (stage: ConsoleStage, credential = stage.key) =>
  async (method: string, path: string, body?: unknown) => {
    const answer = await stage.call(method, path, body, { authorization: `Bearer ${credential}` })
    return ((await answer.json()) as { data: any }).data
  }

/** Presses Tab until the part with these words has the focus. */
const tabTo = async ({ page }: Tab, words: string): Promise<void> => {
  const focused = () =>
    page.evaluate(() => {
      const element = document.activeElement
      const label = element instanceof HTMLInputElement ? (element.labels?.[0]?.textContent ?? '') : ''
      return label === '' ? (element?.textContent ?? '') : label
    })
  for (let tries = 0; tries < 80; tries++) {
    if ((await focused()) === words) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not lead to ${words}`)
}

/** From the form of the sign-in to a changed budget, without a pointer. */
const byKeyboard = async (t: Test, stage: ConsoleStage): Promise<void> => {
  const tab = await stage.browse()
  const { page } = tab
  await page.goto(`${stage.base}/console`)
  await page.waitForSelector('#key:focus')
  await page.keyboard.type(stage.key)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  await page.locator('body').press('Shift+Tab')
  await tabTo(tab, 'Teams')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Teams', level: 1 }).waitFor()
  await tabTo(tab, 'New team')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'New team', level: 1 }).waitFor()
  await tabTo(tab, 'Name')
  await page.keyboard.type('green')
  await tabTo(tab, 'Budget a month')
  await page.keyboard.type('40')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'green', level: 1 }).waitFor()
  const budgets = async () => (await asking(stage)('GET', '/admin/teams/green')).budgets
  t.same(await budgets(), { costPerMonth: 40 })
  await tabTo(tab, 'Change this team')
  await page.keyboard.press('Enter')
  await tabTo(tab, 'Budget a day')
  await page.keyboard.type('2.5')
  await page.keyboard.press('Enter')
  await page.getByText('The team is changed.').waitFor()
  t.same(await budgets(), { costPerDay: 2.5, costPerMonth: 40 })
  t.match(await text(tab), /0% of 2\.50 a day/)
  t.same(await tab.axe(), [])
  await tabTo(tab, 'Undo')
  await page.keyboard.press('Enter')
  await page.getByText('The change is undone.').waitFor()
  t.same(await budgets(), { costPerMonth: 40 })
  t.same(tab.faults, [])
  await page.context().close()
}

const opened = async (stage: ConsoleStage, hash: string, heading: string, key = stage.key): Promise<Tab> => {
  const tab = await stage.browse()
  await tab.signIn(key)
  await tab.go(hash, heading)
  return tab
}

const write = async ({ page }: Tab, what: string, value: string): Promise<void> => {
  const form = page.getByLabel('Budget a month')
  if (!(await form.isVisible())) await page.getByText(`Change this ${what}`).click()
  await form.fill(value)
  await page.getByRole('button', { name: 'Save' }).click()
}

/** Two operators have the page open; the second change rests on what is no longer there. */
const atOnce = async (t: Test, stage: ConsoleStage): Promise<void> => {
  const { row } = await stage.gateway.keys.create({ name: 'shared', scopes: ['models.read'] })
  for (const [what, hash, heading, stored] of [
    ['team', '#/teams/green', 'green', async () => (await asking(stage)('GET', '/admin/teams/green')).budgets],
    ['key', `#/keys/${row.id}`, 'shared', async () => (await stage.gateway.keys.get(row.id, null))?.limits],
  ] as const) {
    const tabs = [await opened(stage, hash, heading), await opened(stage, hash, heading)] as const
    await write(tabs[0], what, '50')
    await tabs[0].page.getByText(`The ${what} is changed.`).waitFor()
    await write(tabs[1], what, '60')
    await tabs[1].page.getByText(`Another operator changed this ${what}.`).waitFor()
    t.same(await stored(), { costPerMonth: 50 }, `the first change of the ${what} stands`)
    t.same(await tabs[1].axe(), [])
    await tabs[1].shot(`${what}-stale`)
    await tabs[1].page.getByRole('button', { name: 'Read the new state' }).click()
    await tabs[1].page.getByText(`Another operator changed this ${what}.`).waitFor({ state: 'detached' })
    await write(tabs[1], what, '60')
    await tabs[1].page.getByText(`The ${what} is changed.`).waitFor()
    t.same(await stored(), { costPerMonth: 60 })
    for (const { page } of tabs) await page.context().close()
  }
  const late = await opened(stage, `#/keys/${row.id}`, 'shared')
  await stage.gateway.keys.change(row.id, 'default', { models: ['priced'] })
  await late.page.getByRole('button', { name: 'Rotate' }).click()
  await late.page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  await late.page.getByText('Another operator changed this key: no key is made.').waitFor()
  const { rows } = await stage.gateway.keys.list('default', 100, 0)
  t.equal(rows.filter(({ name }) => name === 'shared').length, 1, 'powers that were taken do not come back')
  await late.page.context().close()
}

const closing = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<void> => {
  const { page } = tab
  const { credential } = await stage.gateway.keys.create({ name: 'of green', team: 'green' })
  const works = async () =>
    (await fetch(`${stage.base}/v1/models`, { headers: { authorization: `Bearer ${credential}` } })).status
  await tab.go('#/home', 'Home')
  await tab.go('#/teams/green', 'green')
  t.match(await text(tab), /1 key of this team[^]*of green/)
  await page.getByRole('button', { name: 'Close team' }).click()
  t.same(await tab.axe(), [], 'the question')
  await page.getByRole('dialog').getByRole('button', { name: 'Close team' }).click()
  await page.getByRole('button', { name: 'Open team again' }).waitFor()
  t.equal(await works(), 401, 'a closed team has no callers')
  await page.getByRole('button', { name: 'Open team again' }).click()
  await page.getByRole('button', { name: 'Close team' }).waitFor()
  t.equal(await works(), 200)
  t.match(await text(tab), /team\.close[^]*team\.create/, 'the audit stands below')
  const { row } = await stage.gateway.keys.create({ name: 'of no team', scopes: ['models.read'] })
  const member = await opened(stage, `#/keys/${row.id}`, 'of no team', credential)
  await member.page.getByRole('button', { name: 'Rotate' }).click()
  t.match(await member.page.innerText('dialog'), 'The team green pays for the new key.')
  await member.page.context().close()
}

const refusing = async (t: Test, stage: ConsoleStage): Promise<void> => {
  const { credential } = await stage.gateway.keys.create({ name: 'reader', scopes: ['api_key.read'] })
  const tab = await opened(stage, '#/teams/green', 'green', credential)
  const before = await asking(stage)('GET', '/admin/teams/green')
  await write(tab, 'team', '1')
  t.match(await tab.page.innerText('main [role=alert]'), /Missing required permissions[^]*api_key\.update/)
  await tab.page.getByRole('button', { name: 'Close team' }).click()
  await tab.page.getByRole('dialog').getByRole('button', { name: 'Close team' }).click()
  await tab.page.locator('dialog [role=alert]').waitFor()
  t.same(await asking(stage)('GET', '/admin/teams/green'), before, 'a scope that is too small changes nothing')
  const lesser = await stage.gateway.keys.create({ name: 'lesser', scopes: ['api_key.read', 'api_key.update'] })
  const { row } = await stage.gateway.keys.create({ name: 'wider', scopes: ['models.read', 'tools.execute'] })
  const other = await opened(stage, `#/keys/${row.id}`, 'wider', lesser.credential)
  await other.page.getByText('Change this key').click()
  await other.page.getByLabel('Team').fill('green')
  await other.page.getByRole('button', { name: 'Save' }).click()
  t.match(await other.page.innerText('main [role=alert]'), /widened by a caller with every scope of it[^]*team/)
  t.equal((await stage.gateway.keys.get(row.id, null))?.version, 0, 'a lesser key moves no other key')
  await other.page.context().close()
  await tab.page.context().close()
}

/** Each key changes a field of dates; the page goes on with Enter, or behind the last field. */
const dating = async (t: Test, tab: Tab): Promise<void> => {
  const { page } = tab
  const addressed = (from: string, to: string) =>
    page.waitForURL((url) => url.hash.includes(`from=${from}&to=${to}`), { timeout: 5_000 })
  await tab.go('#/usage?from=2026-01-01&to=2026-01-31', 'Usage and cost')
  await page.getByLabel('From', { exact: true }).focus()
  await page.keyboard.type('02032025')
  await page.keyboard.press('Enter')
  await addressed('2025-02-03', '2026-01-31')
  await page.getByLabel('From', { exact: true }).and(page.locator('[value="2025-02-03"]')).focus()
  await page.keyboard.type('0304')
  await page.getByLabel('to', { exact: true }).focus()
  await page.keyboard.type('0506')
  t.match(page.url(), 'from=2025-02-03', 'the reader writes on')
  await page.getByLabel('to', { exact: true }).blur()
  await addressed('2025-03-04', '2026-05-06')
  await tab.go(`#/teams/blue/2026-01`, 'Statement of blue')
  await page.getByLabel('Month').focus()
  await page.keyboard.press('Tab')
  await page.keyboard.type('2025')
  await page.keyboard.press('Enter')
  await page.waitForURL(/#\/teams\/blue\/2025-01$/, { timeout: 5_000 })
}

const using = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<void> => {
  const { page } = tab
  await tab.go('#/usage?split=model&show=tokens&compare=1', 'Usage and cost')
  t.same((await page.locator('.plot .key').allInnerTexts()).toSorted(), ['priced', 'unpriced'])
  t.match(await text(tab), /0 before[^]*Cost before/)
  await tab.go('#/usage?by=hour', 'Usage and cost')
  await page.getByRole('heading', { name: 'Usage by hour' }).waitFor()
  t.equal(await page.locator('tbody tr').count(), 24)
  const { credential } = await stage.gateway.keys.create({ organization: 'acme', scopes: ['api_key.read'] })
  const acme = await opened(stage, '#/usage?by=hour', 'Usage and cost', credential)
  t.match(await text(acme), /Usage by hour[^]*The hours of your organisation/, 'also for who is no operator')
  t.same(acme.faults, [])
  await acme.page.context().close()
  await tab.go('#/usage?by=team', 'Usage and cost')
  await page.getByRole('link', { name: 'blue', exact: true }).click()
  await page.getByText('Only team').waitFor()
  t.match(await text(tab), /Requests\s+2\s/, 'the calls of the team alone')
  await tab.go(`#/teams/blue/${month}`, 'Statement of blue')
  const waiting = page.waitForEvent('download')
  await page.getByRole('button', { name: 'CSV' }).click()
  const csv = await readFile(await (await waiting).path(), 'utf8')
  t.match(csv, /^"?Key, model"?,Requests[^]*\r\n"member, priced",1,[^]*\r\n"member, unpriced",1,[^]*\r\nTotal,2,/)
  const twins = [1, 2].map(() => stage.gateway.keys.create({ name: 'twin', team: 'blue' }))
  for (const { credential } of await Promise.all(twins)) await calls(stage, credential, 'priced')
  const lines = async () => {
    await tab.go('#/teams', 'Teams')
    await tab.go(`#/teams/blue/${month}`, 'Statement of blue')
    return (await page.locator('tbody th').allInnerTexts()).filter((line) => line.startsWith('twin'))
  }
  t.ok(await until(async () => (await lines()).length === 2, 20_000, 500), 'two keys of one name have two lines')
  for (const line of await lines()) t.match(line, /^twin …\w{4}, priced$/)
}

const calls = (stage: ConsoleStage, credential: string, model: string) =>
  stage.call(...(['POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] }] as const), {
    authorization: `Bearer ${credential}`,
  })

t.test('teams and usage in a browser', { skip: withoutChromium }, async (t) => {
  const stage = await consoleStage(t)
  const { credential } = await stage.gateway.keys.create({ name: 'member', team: 'blue' })
  for (const model of ['priced', 'unpriced']) await calls(stage, credential, model)
  const counted = async () => (await asking(stage)('GET', '/admin/usage?team=blue')).usage.length === 2
  t.ok(await until(counted), 'the usage is written')

  await t.test('a budget is changed by the keyboard alone, from the sign-in on', (t) => byKeyboard(t, stage))
  await t.test('of two operators at once, the page tells the second', (t) => atOnce(t, stage))
  const tab = await stage.browse()
  await tab.signIn(stage.key)
  await t.test('a team is closed and opened again', (t) => closing(t, stage, tab))
  await t.test('a key with too small a scope changes nothing', (t) => refusing(t, stage))

  await t.test('a team of the configuration is shown, and has no form; its name is text', async (t) => {
    await tab.go('#/teams', 'Teams')
    t.match(await text(tab), hostile.model)
    await tab.page.getByRole('link', { name: hostile.model }).click()
    await tab.page.getByRole('heading', { name: hostile.model, level: 1 }).waitFor()
    t.match(await text(tab), 'The configuration file has this team.')
    t.equal(await tab.page.locator('form').count(), 0)
    await tab.go(`#/teams/${encodeURIComponent(hostile.model)}/${month}`, `Statement of ${hostile.model}`)
    t.equal(await tab.page.evaluate('"owned" in globalThis'), false)
  })

  await t.test('dates are typed', (t) => dating(t, tab))
  await t.test('usage is stacked, compared, told by hours, and stated for a team', (t) => using(t, stage, tab))

  await t.test('both schemes, narrow and wide: axe finds nothing', (t) =>
    looks(t, tab, [
      ['#/teams', 'Teams', 'teams'],
      ['#/teams/green', 'green', 'team'],
      ['#/teams/@new', 'New team', 'team-new'],
      [`#/teams/blue/${month}`, 'Statement of blue', 'statement'],
      ['#/usage?split=model&compare=1', 'Usage and cost', 'usage-stacked'],
      ['#/usage?by=hour', 'Usage and cost', 'usage-hours'],
    ]),
  )
  t.same(tab.faults, [])
})
