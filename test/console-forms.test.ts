import './fakes/unwatched.ts'
import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { withoutChromium } from './fakes/chromium.ts'
import { type ConsoleStage, type Tab, consoleStage } from './fakes/console-stage.ts'
import { consoled } from './fakes/consoled.ts'

const save = async ({ page }: Tab): Promise<void> => {
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The key is changed.').waitFor()
}

/** A key's page whose form is open. */
const changing = async ({ gateway }: ConsoleStage, tab: Tab, name: string, title = name) => {
  const { row } = await gateway.keys.create({ name, scopes: ['models.read'] })
  await tab.go(`#/keys/${row.id}`, title)
  await tab.page.getByText('Change this key').click()
  return () => gateway.keys.get(row.id, 'default')
}

const renaming = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<void> => {
  const { page } = tab
  const stored = await changing(stage, tab, ' ', 'A key without a name')
  await page.getByLabel('Budget a day').fill('3')
  await save(tab)
  t.match(await stored(), { name: ' ', limits: { costPerDay: 3 } }, 'a name that nobody touches stays')
  await page.getByLabel('Name').fill('renamed')
  await save(tab)
  await page.getByRole('heading', { name: 'renamed', level: 1 }).waitFor({ timeout: 5_000 })
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('heading', { name: 'A key without a name', level: 1 }).waitFor({ timeout: 5_000 })
  await tab.go('#/keys', 'Keys')
  const links = await page.locator('tbody th a').allInnerTexts()
  t.notOk(links.includes(''), 'each key has a link to its page')
  const broken = await changing(stage, tab, 'two\r\nlines', 'two lines')
  await page.getByLabel('Budget a day').fill('3')
  await save(tab)
  t.match(await broken(), { name: 'two\r\nlines', limits: { costPerDay: 3 } }, 'line breaks of a name stay, too')
}

/** The largest whole number stands for a key without an end where a program has no null. */
const ending = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<void> => {
  const { page } = tab
  const { row } = await stage.gateway.keys.create({ name: 'endless', expires_at: Number.MAX_SAFE_INTEGER })
  await tab.go('#/home', 'Home')
  await tab.go('#/keys', 'Keys')
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'CSV' }).click()
  t.match(await readFile(await (await download).path(), 'utf8'), /endless.*\+275760-09-13/)
  await page.getByRole('link', { name: 'endless' }).click()
  await page.getByText('Change this key').click()
  await page.getByLabel('Budget a day').fill('3')
  await save(tab)
  const stored = await stage.gateway.keys.get(row.id, 'default')
  t.match(
    stored,
    { limits: { costPerDay: 3 }, expires_at: Number.MAX_SAFE_INTEGER },
    'an end that nobody touches stays',
  )
}

const undoing = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<void> => {
  const { page } = tab
  const stored = await changing(stage, tab, 'undone')
  const box = page.getByRole('checkbox', { name: 'api_key.read', exact: true })
  await page.getByLabel('Budget a day').fill('3')
  await save(tab)
  await page.getByLabel('Addresses').fill('10.0.0.0/8')
  await box.check()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('The change is undone.').waitFor()
  t.same((await stored())?.limits, {})
  t.equal(await page.getByLabel('Budget a day').inputValue(), '', 'the form shows what the change left')
  t.equal(await page.getByLabel('Addresses').inputValue(), '10.0.0.0/8', 'what was typed since stays')
  t.ok(await box.isChecked())
  await save(tab)
  t.match(await stored(), { limits: {}, addresses: ['10.0.0.0/8'], scopes: ['models.read', 'api_key.read'] })
}

const quoting = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<void> => {
  const { page } = tab
  const { gateway } = stage
  const models = ['my model', 'say "hi", now', 'plain']
  const { row } = await gateway.keys.create({ name: 'of odd models', scopes: ['models.read'], models })
  await tab.go(`#/keys/${row.id}`, 'of odd models')
  await page.getByText('Change this key').click()
  const field = page.getByLabel('Models', { exact: true })
  const shown = await field.inputValue()
  t.equal(shown, String.raw`"my model" "say \"hi\", now" plain`)
  await field.fill(`${shown}, "un ended`)
  await save(tab)
  const stored = await gateway.keys.get(row.id, 'default')
  t.same(stored?.models, [...models, '"un', 'ended'])
}

/** Moves the first table sideways, as a finger does, and waits until the table shows more. */
const moving = async (t: Test, stage: ConsoleStage): Promise<void> => {
  const tab = await stage.browse({ viewport: { width: 390, height: 800 } })
  const { page } = tab
  await tab.signIn(stage.key)
  await tab.go('#/live', 'Live')
  await page.getByText(/^Listening/).waitFor()
  await stage.chat('priced')
  await page.locator('tbody').getByText('priced').waitFor()
  // In one step: a locator finds a table that may be exchanged before its work.
  await page.evaluate(() => void document.querySelector('.scroll')?.scrollBy(150, 0))
  await stage.chat('unpriced')
  await page.locator('tbody').getByText('unpriced').waitFor()
  const left = await page.evaluate(() => document.querySelector('.scroll')?.scrollLeft)
  t.equal(left, 150, 'the table stays where the reader moved it')
  await page.locator('tbody tr').nth(1).waitFor()
  await page.getByText('runs', { exact: true }).waitFor({ state: 'detached' })
  await page.waitForTimeout(600)
  const shown = await page.locator('.scroll').first().elementHandle()
  await page.waitForTimeout(1_200)
  t.ok(await shown?.evaluate((own) => own.isConnected), 'requests that are as before are drawn once')
  await tab.go('#/models', 'Models and backends')
  const chains = await page.getByRole('region', { name: 'Chains' }).elementHandle()
  await page.waitForResponse(/\/admin\/models/)
  await page.waitForTimeout(600)
  t.ok(await chains?.evaluate((own) => own.isConnected), 'chains that are as before are drawn once')
  await stage.call('POST', '/admin/backends/house/rest', { seconds: 60 })
  const resting = page.getByRole('region', { name: 'Chains' }).getByText(/^open/)
  await resting.first().waitFor({ timeout: 15_000 })
  await stage.call('POST', '/admin/backends/house/wake')
  await page.context().close()
}

/** The window of a small screen whose reader has made the letters larger. */
const leavingLow = async (t: Test, stage: ConsoleStage): Promise<void> => {
  const tab = await stage.browse({ viewport: { width: 911, height: 432 } })
  const { page } = tab
  await tab.signIn(stage.key)
  await tab.go('#/keys/new', 'New key')
  await page.mouse.move(50, 200)
  await page.mouse.wheel(0, 1_000)
  await page.waitForFunction(
    () => (document.querySelector('.who button')?.getBoundingClientRect().bottom ?? Infinity) <= innerHeight,
    null,
    { timeout: 5_000 },
  )
  await page.getByRole('button', { name: 'Sign out' }).click({ timeout: 5_000 })
  await page.waitForSelector('#key')
  t.equal(await page.locator('nav').count(), 0)
  await page.context().close()
}

/** The reader's own machine, which was given no file of keys. */
const keyless = async (t: Test, { base, key, browse }: ConsoleStage): Promise<void> => {
  const own = await consoled(t, ['--gateway', base], { SEALGATE_KEY: key })
  const { page } = await browse()
  await page.goto(own.address)
  await page.getByRole('link', { name: 'Files' }).click()
  await page.locator('main:not([aria-busy])').getByRole('heading', { name: 'Files', level: 1 }).waitFor()
  const words = await page.innerText('main')
  t.match(words, 'sealgate console --gateway URL --keys FILE')
  t.notMatch(words, 'a page of the gateway', 'the page is no page of the gateway')
  await page.context().close()
}

t.test('forms and lists of the console', { skip: withoutChromium }, async (t) => {
  const stage = await consoleStage(t)
  const tab = await stage.browse()
  await tab.signIn(stage.key)
  await t.test('a page of a key has the name that the key has now', (t) => renaming(t, stage, tab))
  await t.test('a key whose end no date has is listed and changed', (t) => ending(t, stage, tab))
  await t.test('a change is undone, and newer text stays', (t) => undoing(t, stage, tab))
  await t.test('a name with spaces stays one name', (t) => quoting(t, stage, tab))
  await t.test('an address behind the last page shows the last page', async (t) => {
    for (const page of ['99', '9'.repeat(20)]) {
      await tab.go(`#/keys?page=${page}`, 'Keys')
      t.ok((await tab.page.locator('tbody th a').count()) > 0, page)
    }
  })
  await t.test('a table stays where its reader moved it', (t) => moving(t, stage))
  await t.test('a low window has the way out', (t) => leavingLow(t, stage))
  await t.test('the own machine without keys asks for a file of them', (t) => keyless(t, stage))
  t.same(tab.faults, [])
})
