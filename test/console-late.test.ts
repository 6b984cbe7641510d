import './fakes/unwatched.ts'
import type { Page, Request } from 'playwright-core'
import t, { type Test } from 'tap'
import { withoutChromium } from './fakes/chromium.ts'
import { type ConsoleStage, type Tab, consoleStage } from './fakes/console-stage.ts'
import { ConsoleSessions } from '../plugins/surfaces/console/console-sessions.ts'

/** Requests of a tab that reach the gateway when the test lets them go. */
interface Held {
  readonly requests: readonly Request[]
  /** Waits for the first request, and for the answers. */
  letGo(): Promise<void>
}

const holding = async (page: Page, method: string, path: RegExp): Promise<Held> => {
  let [letGo, came] = [() => {}, () => {}]
  const free = new Promise<void>((resolve) => (letGo = resolve))
  const first = new Promise<void>((resolve) => (came = resolve))
  const requests: Request[] = []
  await page.route(path, async (route, request) => {
    if (request.method() !== method) return route.fallback()
    requests.push(request)
    came()
    await free
    return route.continue()
  })
  return {
    requests,
    async letGo() {
      await first
      letGo()
      await Promise.all(requests.map(async (request) => (await request.response())?.finished()))
      await page.unrouteAll({ behavior: 'wait' })
    },
  }
}

const jumping = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<void> => {
  const { page } = tab
  await stage.gateway.keys.create({ name: 'of a team', scopes: ['models.read'], team: 'blue' })
  await tab.go('#/models', 'Models and backends')
  const search = await holding(page, 'GET', /\/admin\/keys\?search=/)
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('textbox').waitFor()
  await page.keyboard.type('team blue')
  const place = page.getByRole('link', { name: 'Team blue' })
  await place.waitFor()
  await page.keyboard.press('ArrowDown')
  await search.letGo()
  t.equal(await page.evaluate(() => document.activeElement?.textContent), 'Team blue', 'the place has the focus still')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'blue', level: 1 }).waitFor()
}

/** A question that is answered twice, and a form that is sent twice, before the gateway has answered once. */
const pressing = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<void> => {
  const { page } = tab
  const { row } = await stage.gateway.keys.create({ name: 'to rotate', scopes: ['models.read'] })
  await tab.go(`#/keys/${row.id}`, 'to rotate')
  const making = await holding(page, 'POST', /\/admin\/keys$/)
  await page.getByRole('button', { name: 'Rotate' }).click()
  const yes = page.getByRole('dialog').getByRole('button', { name: 'Rotate' })
  await yes.click()
  t.equal(await yes.getAttribute('aria-disabled'), 'true', 'the button says that work goes on')
  t.ok(await yes.evaluate((own) => own === document.activeElement), 'the button keeps the focus')
  await page.keyboard.press('Enter')
  await making.letGo()
  await page.waitForSelector('.secret')
  t.equal(making.requests.length, 1, 'one key is made')

  await tab.go('#/teams/@new', 'New team')
  await page.getByLabel('Name').fill('green')
  const founding = await holding(page, 'POST', /\/admin\/teams$/)
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  await founding.letGo()
  await page.getByRole('heading', { name: 'green', level: 1 }).waitFor()
  t.equal(founding.requests.length, 1, 'one team is made')
}

/** A question that a reader goes back from. */
const goingBack = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<void> => {
  const { page } = tab
  const { row } = await stage.gateway.keys.create({ name: 'to keep', scopes: ['models.read'] })
  await tab.go('#/keys', 'Keys')
  await tab.go(`#/keys/${row.id}`, 'to keep')
  await page.getByRole('button', { name: 'Revoke' }).click()
  await page.goBack()
  await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor()
  t.equal(await page.locator('dialog').count(), 0, 'the question ends with its page')
}

/** A clock that is hours ahead, and a gateway that restarts while the page loads. */
const restarting = async (t: Test, stage: ConsoleStage): Promise<void> => {
  const tab = await stage.browse()
  const { page } = tab
  await page.clock.install({ time: Date.now() + 7_200_000 })
  await tab.signIn(stage.key)
  await page.clock.runFor(1_000)
  t.equal(await page.locator('nav').count(), 1, 'the gateway alone tells the end of its session')
  await page.route(/\/session\/renewal$/, (route) => route.fulfill({ status: 503, json: { error: 'Restarts' } }))
  await page.reload()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('Restarts').waitFor()
  await page.unrouteAll({ behavior: 'wait' })
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.waitForSelector('nav')
  await page.context().close()
}

/** A gateway that restarts while the reader signs in by a link. */
const linking = async (stage: ConsoleStage): Promise<void> => {
  const { page } = await stage.browse()
  const link = await stage.gateway.supply({ sessions: ConsoleSessions }).sessions.link(stage.key)
  await page.route(/\/console\/session$/, (route) => route.fulfill({ status: 503, json: { error: 'Restarts' } }))
  await page.goto(`${stage.base}/console#link=${link}`)
  await page.getByText('Restarts').waitFor()
  await page.unrouteAll({ behavior: 'wait' })
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.waitForSelector('nav')
  await page.context().close()
}

const refusing = async (t: Test, tab: Tab): Promise<void> => {
  const { page } = tab
  await tab.go('#/teams/@new', 'New team')
  await page.getByLabel('Name').fill('green')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Name').fill('yellow')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'yellow', level: 1 }).waitFor()
  t.match(page.url(), /#\/teams\/yellow$/)
}

const signingOut = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<void> => {
  const { page } = tab
  const ending = await holding(page, 'DELETE', /\/console\/session$/)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('status').getByText('Signing out').waitFor()
  t.equal(await page.locator('nav, #key').count(), 0, 'the page shows neither the console nor the form')
  await ending.letGo()
  await page.waitForSelector('#key')
  await page.reload()
  await page.waitForSelector('#key')

  await tab.signIn(stage.key)
  await page.route(/\/console\/session$/, (route) => route.abort())
  await page.getByRole('button', { name: 'Sign out' }).click()
  t.match(await page.innerText('[role=alert]'), 'The gateway cannot be reached', 'a session that goes on is told')
}

/** A renewal of the session in use, at the next press behind so many ms. */
const renewing = async ({ page }: Tab, ms: number): Promise<void> => {
  await page.clock.fastForward(ms)
  const renewal = page.waitForResponse(/\/session\/renewal$/)
  await page.keyboard.press('Shift')
  await (await renewal).finished()
  await page.clock.runFor(100)
}

const outliving = async (t: Test, stage: ConsoleStage): Promise<void> => {
  const tab = await stage.browse()
  const { page } = tab
  await page.clock.install()
  await tab.signIn(stage.key)
  const dayMs = 86_400_000
  let answers = 0
  await page.route(/\/session\/renewal$/, async (route) => {
    if (answers++ > 0) return route.fulfill({ status: 503, json: { error: 'The gateway restarts' } })
    const response = await route.fetch()
    const { data } = (await response.json()) as { readonly data: { readonly expires_at: number } }
    return route.fulfill({ response, json: { data: { ...data, expires_at: Date.now() + 30 * dayMs } } })
  })
  await renewing(tab, 60_000)
  await renewing(tab, 2 * dayMs)
  t.equal(answers, 2)
  t.equal(await page.locator('nav').count(), 1, 'the session goes on as the renewal before let it')
  const looking = async (ms: number): Promise<void> => {
    const look = page.waitForResponse(`${stage.base}/`)
    await page.clock.fastForward(ms)
    await (await look).finished()
    await page.clock.runFor(1_000)
  }
  await looking(30 * dayMs)
  t.equal(await page.locator('nav').count(), 1, 'a clock that is ahead ends no session that lives')
  await page.route(`${stage.base}/`, (route) => route.fulfill({ status: 503, json: { error: 'The gateway restarts' } }))
  await looking(60_000)
  t.equal(await page.locator('nav').count(), 1, 'and neither does a gateway that is away')
  await page.route(`${stage.base}/`, (route) => route.fulfill({ status: 401, json: { error: 'Ended' } }))
  await page.clock.fastForward(60_000)
  await page.waitForSelector('#key')
  t.match(await page.innerText('[role=alert]'), 'The time of this sign-in is over')
  await page.context().close()
}

t.test('the console before a gateway that answers late', { skip: withoutChromium }, async (t) => {
  const stage = await consoleStage(t)
  const tab = await stage.browse()
  const ended: (boolean | undefined)[] = []
  await tab.page.exposeFunction('ended', (keepalive: boolean | undefined) => ended.push(keepalive))
  await tab.page.addInitScript(() => {
    const own = fetch
    globalThis.fetch = (target, init) => {
      if (init?.method === 'DELETE') (globalThis as unknown as { ended(is?: boolean): void }).ended(init.keepalive)
      return own(target, init)
    }
  })
  await tab.signIn(stage.key)
  await t.test('a place that is chosen keeps the focus while keys are looked for', (t) => jumping(t, stage, tab))
  await t.test('a second press does nothing while the first one is not answered', (t) => pressing(t, stage, tab))
  await t.test('a form that was refused is sent again', (t) => refusing(t, tab))
  await t.test('a question ends where the reader goes back', (t) => goingBack(t, stage, tab))
  await t.test('a session outlives a restart and a clock that is ahead', (t) => restarting(t, stage))
  await t.test('a link outlives a restart', () => linking(stage))
  await t.test('a renewal that fails ends no session that was renewed before', (t) => outliving(t, stage))
  await t.test('the form to sign in comes when the gateway has ended the session', async (t) => {
    await signingOut(t, stage, tab)
    t.same([...new Set(ended)], [true], 'a session ends also where the tab closes at once')
  })
})
