import './fakes/unwatched.ts'
import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { withoutChromium } from './fakes/chromium.ts'
import { looks } from './fakes/console-looks.ts'
import { type ConsoleStage, type Tab, consoleStage, hostile } from './fakes/console-stage.ts'
import { until } from './until.ts'

const row = ({ page }: Tab, name: string) =>
  page.locator('tr', { has: page.getByRole('rowheader', { name, exact: true }) })

/** Waits for a row with all of these words. */
const seesRow = ({ page }: Tab, ...words: readonly string[]) =>
  words
    .reduce((rows, hasText) => rows.filter({ hasText }), page.locator('tbody tr'))
    .first()
    .waitFor()

/** Asks once the page listens, and gives the id of the request. */
const asks = async ({ base, key }: ConsoleStage, model: string): Promise<string> => {
  const answer = await fetch(`${base}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'a secret of the caller' }] }),
  })
  await answer.text()
  return answer.headers.get('x-request-id') ?? ''
}

const listens = (tab: Tab) =>
  tab.page
    .getByText(/^Listening/)
    .first()
    .waitFor()

const running = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<string> => {
  const { page } = tab
  await tab.go('#/live', 'Live')
  await listens(tab)
  const id = await asks(stage, 'chained')
  await asks(stage, hostile.model)
  await asks(stage, 'away')
  await seesRow(tab, 'chained')
  await seesRow(tab, hostile.model)
  await seesRow(tab, '503')
  t.equal(await page.evaluate('"owned" in globalThis'), false, 'a hostile name is text')
  const main = await page.innerText('main')
  t.match(main, '1 process')
  t.notMatch(main, 'a secret of the caller')
  t.notMatch(main, 'hello', 'no answer is shown')
  await page.getByRole('searchbox').fill(id)
  await page.locator('tbody tr').nth(1).waitFor({ state: 'detached' })
  t.match(await page.innerText('tbody'), /chained\s+POST \S+\s+house\s+2/)
  const waiting = page.waitForEvent('download')
  await page.getByRole('button', { name: 'CSV' }).click()
  const csv = await readFile(await (await waiting).path(), 'utf8')
  t.match(csv, /^Began,Id,Status,Model,/)
  t.match(csv, id)
  await page.locator('tbody a').first().click()
  await page.getByRole('heading', { name: 'One request' }).waitFor()
  t.match(page.url(), `#/live/${id}`)
  t.equal(await page.locator('.waterfall svg').count(), 2, 'a bar for each attempt')
  t.match(await row(tab, 'broken').innerText(), /first\s+failed, 500/)
  t.match(await row(tab, 'house').innerText(), /after a fault or silence\s+answered/)
  return id
}

const pausing = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<void> => {
  const { page } = tab
  await tab.go('#/live?show=failed', 'Live')
  await seesRow(tab, 'away')
  t.notMatch(await page.innerText('tbody'), 'chained')
  await tab.go('#/live', 'Live')
  await listens(tab)
  await page.getByRole('button', { name: 'Pause' }).focus()
  await page.keyboard.press('Enter')
  const before = await page.locator('tbody tr').count()
  await asks(stage, 'priced')
  await page.clock.runFor(2_000)
  t.equal(await page.locator('tbody tr').count(), before, 'nothing moves')
  await page.getByRole('button', { name: 'Go on' }).click()
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
  await seesRow(tab, 'priced')
  await page.locator('tbody td').nth(1).click()
  await asks(stage, 'unpriced')
  await seesRow(tab, 'unpriced')
  t.ok(await page.evaluate(() => document.activeElement?.matches('.scroll')), 'a table that was clicked goes on')
}

/** A request that runs while its reader looks elsewhere. */
const losing = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<void> => {
  const answer = stage.holdNext()
  const call = asks(stage, 'unpriced')
  // The row of an earlier request may not tell its end yet.
  await seesRow(tab, 'unpriced', 'runs')
  await tab.page.getByRole('link', { name: 'running', exact: true }).click()
  await tab.page.locator('a[aria-current=page]', { hasText: 'running' }).waitFor()
  await seesRow(tab, 'unpriced', 'runs')
  await tab.go('#/settings', 'Settings')
  answer()
  await call
  await tab.go('#/live', 'Live')
  await seesRow(tab, 'unpriced', 'end not seen')
  t.notMatch(await tab.page.innerText('tbody'), /\bruns\b/)
}

const steering = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<void> => {
  const { page } = tab
  await tab.go('#/models', 'Models and backends')
  await page.route(/\/admin\/backends/, (route) => route.abort())
  await page.getByText('The last refresh failed').waitFor()
  await page.unrouteAll({ behavior: 'wait' })
  await page.getByText('The last refresh failed').waitFor({ state: 'detached' })
  t.match(await row(tab, 'house').first().innerText(), /closed: calls pass\s+0 of/)
  t.match(await row(tab, 'broken').first().innerText(), /server error/)
  const chain = await page.locator('section', { hasText: 'Chains' }).last().innerText()
  t.match(chain, /chained\s+1\s+broken[^]*chained\s+2\s+house/, 'in its order')
  await tab.go('#/models/backend/house', 'house')
  await page.getByRole('button', { name: 'Ask now' }).click()
  await page.getByText(/Lists 0 models/).waitFor()
  await page.getByRole('button', { name: 'Rest' }).click()
  t.same(await tab.axe(), [], 'the question')
  await page.getByRole('dialog').getByRole('button', { name: 'Rest' }).click()
  await page.getByText('house rests.').waitFor()
  await page
    .getByText(/open for \d+ s/)
    .first()
    .waitFor()
  t.equal(await stage.chat('priced'), 503, 'no call passes')
  await tab.shot('backend-resting')
  await page.getByRole('button', { name: 'Wake' }).click()
  await page.getByText('house is awake.').waitFor()
  t.equal(await stage.chat('priced'), 200)
  const { rows } = await stage.gateway.audit.list({ limit: 10, order: { by: 'at', descending: true } })
  t.same(
    rows.map(({ row }) => `${row.action} ${row.object}`).filter((entry) => entry.startsWith('backend.')),
    ['backend.wake house', 'backend.rest house', 'backend.ask house'],
  )
}

const weighing = async (t: Test, tab: Tab): Promise<void> => {
  const { page } = tab
  await tab.go('#/models/weights/chained', 'chained')
  await page.getByLabel('Weight of house').fill('7')
  t.same(JSON.parse(await page.innerText('.copied code')), {
    models: {
      chained: {
        upstreams: [
          { provider: 'broken', model: 'own', weight: 1, priority: 1 },
          { provider: 'house', model: 'own', weight: 7, priority: 2 },
        ],
      },
    },
  })
  await page.getByLabel('Weight of house').fill('-1')
  t.match(await page.innerText('[role=alert]'), 'A weight is a number from 0.')
  await page.getByLabel('Weight of house').fill('7')
}

const drilling = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<void> => {
  const { page } = tab
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const places = () => page.getByText('plays', { exact: true })
  await tab.go('#/drill?model=chained', 'Drill')
  t.equal(await page.getByLabel('Model').inputValue(), 'chained', 'the address names the model')
  t.match(await page.innerText('tbody'), 'No drill was played in this tab.')
  await button('Start').focus()
  await page.keyboard.press('Enter')
  await places().first().waitFor()
  t.equal(await page.locator('tbody tr').count(), 21, 'every scene is there from the begin')
  t.equal(await page.evaluate(() => document.activeElement?.textContent), 'Stop', 'the keyboard can stop it')
  t.equal((await stage.call('POST', '/admin/drill', { model: 'priced' })).status, 409, 'another one has to wait')
  await tab.shot('drill-playing')
  const asked = stage.other.asked.length
  await page.getByText('Played to its end').waitFor({ timeout: 90_000 })
  t.equal(stage.other.asked.length, asked, 'no backend of the gateway is asked')
  const main = await page.innerText('main')
  t.match(main, '2 backends, 0 retries; a broken stream is not gone on with.')
  t.match(main, 'This tab has seen no run of this model before.')
  t.match(main, /S02\s+500, then fine\s+pass\s+200: 326 characters, in /)
  t.match(main, /S08\s+cut in the middle\s+safe\s+200: \d+ characters, then an error, in /)
  t.match(main, /C01\s+leaves before the first token\s+\w+\s+the caller left/)
  const waiting = page.waitForEvent('download')
  await button('CSV').click()
  const csv = await readFile(await (await waiting).path(), 'utf8')
  t.match(csv, /^Scene,Title,Mark,What the caller saw,/)
  t.match(csv, /\r\nS14,"cut, and the backend cannot continue",pass,/)
  await page.getByText('as curl').click()
  t.match(await page.innerText('.curl code'), /-X POST .*\/admin\/drill[^]*"model":"chained"/)
  await page.getByText('as curl').click()
}

/** A second run is compared with the first, is stopped, and a third ends with the page. */
const drillingAgain = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<void> => {
  const { page } = tab
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  await button('Start').click()
  await page.getByText('same', { exact: true }).first().waitFor({ timeout: 90_000 })
  await button('Stop').click()
  await page.getByText(/Stopped after \d+ of 21/).waitFor()
  t.match(await page.innerText('main'), /in the run at|Every mark is that of the run at/)
  t.equal(await page.getByText('plays', { exact: true }).count(), 0, 'no scene plays behind a stop')
  t.ok((await page.getByText('not played', { exact: true }).count()) > 0)
  await tab.go('#/settings', 'Settings')
  await tab.go('#/drill?model=chained', 'Drill')
  t.match(await page.innerText('main'), 'This tab has seen no run of this model before.', 'the whole run is kept')
  const isFree = async () => {
    const answer = await stage.call('POST', '/admin/drill', { model: 'priced', scenes: ['S13'] })
    await answer.text()
    return answer.status === 200
  }
  t.ok(await until(isFree, 60_000), 'what was stopped is over')
  await button('Start').click()
  await page.getByText('plays', { exact: true }).first().waitFor()
  await tab.go('#/settings', 'Settings')
  t.ok(await until(isFree, 60_000), 'a drill ends with its page')
}

const ofOthers = async (t: Test, stage: ConsoleStage): Promise<void> => {
  const { credential } = await stage.gateway.keys.create({ organization: 'other', scopes: ['api_key.read'] })
  const tab = await stage.browse()
  await tab.signIn(credential)
  await tab.go('#/live', 'Live')
  await listens(tab)
  await asks(stage, 'priced')
  await asks({ ...stage, key: (await stage.gateway.keys.create({ organization: 'other' })).credential }, 'unpriced')
  await seesRow(tab, 'unpriced')
  t.notMatch(await tab.page.innerText('tbody'), '\tpriced', 'the requests of another organisation are not there')
  await tab.go('#/models', 'Models and backends')
  t.match(await tab.page.innerText('main'), 'Backends are shown to operators.')
  await tab.go('#/drill', 'Not here')
  await tab.go('#/models/backend/house', 'Models and backends')
  t.same(tab.faults, [])
  await tab.page.context().close()
}

t.test('live, models and backends in a browser', { skip: withoutChromium }, async (t) => {
  const stage = await consoleStage(t)
  const tab = await stage.browse()
  await tab.page.clock.install()
  await tab.signIn(stage.key)
  let id = ''
  await t.test('requests are seen as they run, and one of them with its attempts', async (t) => {
    id = await running(t, stage, tab)
  })
  await t.test('the list is filtered, and stands still when it is paused', (t) => pausing(t, stage, tab))
  await t.test('a request whose end was not seen is told so', (t) => losing(t, stage, tab))
  await t.test('a backend is asked, rests and is woken', (t) => steering(t, stage, tab))
  await t.test('weights become a change of the configuration', (t) => weighing(t, tab))
  await t.test('a drill fills its scorecard, one at a time', (t) => drilling(t, stage, tab))
  await t.test('a drill is compared, stopped and left', (t) => drillingAgain(t, stage, tab))
  await t.test('a key of another organisation sees its own', (t) => ofOthers(t, stage))
  await t.test('both schemes, narrow and wide: axe finds nothing', (t) =>
    looks(t, tab, [
      ['#/live', 'Live', 'live'],
      [`#/live/${id}`, 'One request', 'live-one'],
      ['#/models', 'Models and backends', 'models'],
      ['#/models/backend/broken', 'broken', 'backend'],
      ['#/models/weights/chained', 'chained', 'weights'],
      ['#/drill?model=chained', 'Drill', 'drill'],
    ]),
  )
  await t.test('nothing went elsewhere, and the policy was never broken', (t) => {
    t.same(tab.faults, [])
    t.end()
  })
})
