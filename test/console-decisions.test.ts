import { usages } from '../plugins/usage/usage-rows.ts'
import { MetadataStore } from '../core/ports/metadata-store.ts'
import './fakes/unwatched.ts'
import { execFile } from 'node:child_process'
import { utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { figuresOf } from '../plugins/surfaces/console/browser/figures.ts'
import { withoutChromium } from './fakes/chromium.ts'
import { claimOf } from './fakes/console-deciding.ts'
import { looks } from './fakes/console-looks.ts'
import { type ConsoleStage, type Tab, consoleStage, hostile } from './fakes/console-stage.ts'
import { filesIn, traces } from './fakes/traces.ts'
import { succeeds } from './helpers.ts'

const canary = 'canaryqheronqdecides'
const labels = ['billing', 'technical', 'shipping']
const count = 60

/** A model that claims up to 0.94 and is right in seven of ten. */
const truthOf = (at: number): number => (at % 10 < 7 ? at % 3 : (at + 1) % 3)
const cases = ['state,answer', ...Array.from({ length: count }, (_, at) => `case ${at},${labels[truthOf(at)]}`)]

const card = ({ page }: Tab, title: string) =>
  page.locator('section.card', { has: page.getByRole('heading', { name: title, exact: true }) })

const table = ({ page }: Tab, title: string) => page.getByRole('region', { name: title, exact: true }).locator('table')

const button = ({ page }: Tab, name: string) => page.getByRole('button', { name, exact: true })

const asking = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<void> => {
  const { page } = tab
  await tab.go('#/decisions?template=choice&model=small', 'Decisions')
  // By the keyboard alone: a state, another model, and the question.
  await page.getByLabel('State', { exact: true }).focus()
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.type(`I was charged twice, ${canary}.`)
  await page.getByRole('checkbox', { name: hostile.model }).focus()
  await page.keyboard.press('Space')
  await button(tab, 'Ask').focus()
  await page.keyboard.press('Enter')
  await page.getByText('Answered by 2 of 2').waitFor()
  t.match(await card(tab, 'team').innerText(), /small\s+billing\s+confidence 0\.85/)
  t.equal(await card(tab, 'team').locator('svg').count(), 6, 'a bar for each label of each model')
  t.same(await table(tab, 'Probabilities').locator('tbody tr').first().innerText(), 'team\tbilling\t90%\t90%')
  t.match(await table(tab, 'Calls').innerText(), /small\t0\.00625\t20 \/ 1/)
  t.match(await table(tab, 'Calls').innerText(), 'unpriced')
  t.equal(await page.evaluate('"owned" in globalThis'), false, 'a hostile name is text')
  const body = JSON.parse(stage.other.asked.at(-1)?.body.toString() ?? '') as { messages: { content: string }[] }
  t.match(body.messages[0]?.content, canary, 'the backend is asked about it')
}

const editing = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<void> => {
  const { page } = tab
  await button(tab, 'Remove label 3').click()
  await button(tab, 'Add a label').click()
  t.equal(await page.evaluate(() => document.activeElement?.getAttribute('aria-label')), 'Label 3')
  await page.keyboard.type('7')
  await button(tab, 'Add a question').click()
  await page.getByLabel('Type').last().selectOption('noul')
  await page.getByLabel('Yes means').fill('It is so')
  await button(tab, 'Ask').click()
  await card(tab, 'question2').waitFor()
  t.match(await card(tab, 'question2').first().innerText(), /yes\s+confidence 0\.8/)
  const asked = stage.other.asked.map(({ body }) => body.toString())
  t.ok(
    asked.some((request) => request.includes('C: 7\\n')),
    'labels keep their places',
  )
  await page.getByLabel('Label 3', { exact: true }).fill('billing')
  await button(tab, 'Ask').click()
  t.match(await page.innerText('[role=alert]'), 'A label of the question team stands there twice.')
  await page.getByRole('checkbox', { name: 'away' }).check()
  await page.getByLabel('Label 3', { exact: true }).fill('shipping')
  await button(tab, 'Ask').click()
  await page.getByText('Answered by 2 of 3').waitFor()
  t.match(
    await card(tab, 'away').getByRole('alert').innerText(),
    'Upstream service failed',
    'one that fails hides no other',
  )
  await button(tab, 'Remove the question').last().click()
  await page.getByRole('checkbox', { name: 'away' }).uncheck()
  await page.getByLabel('State', { exact: true }).fill('a doubt')
  await button(tab, 'Ask').click()
  await page.getByText('escalated to large').first().waitFor()
}

/** Runs what the page gives away. */
const taking = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<void> => {
  const { page } = tab
  await page.getByLabel('State', { exact: true }).fill("`${1}` ''' a \"state\"")
  for (const name of ['curl', 'JavaScript', 'Python', 'Configuration'])
    await page.getByText(name, { exact: true }).click()
  const textOf = (name: string) => page.getByRole('region', { name: `${name} of this question` }).innerText()
  const env = { PATH: process.env['PATH'], SEALGATE_KEY: stage.key }
  const run = (program: string, ...args: readonly string[]) => promisify(execFile)(program, args, { env })
  const { stdout } = await run(process.execPath, '--input-type=module', '--eval', await textOf('JavaScript'))
  t.match(stdout, /choice: 'billing'/)
  const has = (program: string) => succeeds(run(program, '--version'))
  if (await has('python3')) t.match((await run('python3', '-c', await textOf('Python'))).stdout, `'choice': 'billing'`)
  if (await has('curl')) t.match((await run('sh', '-c', await textOf('curl'))).stdout, '"choice":"billing"')
  t.same(JSON.parse(await textOf('Configuration')).decision.default, 'small')
  t.notOk((await page.content()).includes(stage.key))
}

const upload = (tab: Tab, lines: readonly string[]) =>
  tab.page
    .getByLabel('File', { exact: true })
    .setInputFiles({ name: 'cases.csv', mimeType: 'text/csv', buffer: Buffer.from(lines.join('\r\n')) })

const naming = async (t: Test, tab: Tab): Promise<void> => {
  const { page } = tab
  await tab.go('#/decisions?template=choice&model=large', 'Decisions')
  await button(tab, 'Add a question').click()
  await button(tab, 'Add a question').click()
  await button(tab, 'Remove the question').nth(1).click()
  await button(tab, 'Add a question').click()
  const ids = await page
    .getByLabel('Id', { exact: true })
    .evaluateAll((all) => all.map((id) => 'value' in id && id.value))
  t.same(ids, ['team', 'question3', 'question4'])
}

/** A backend that is down, and a file that is mended meanwhile. */
const failing = async (t: Test, tab: Tab): Promise<void> => {
  const { page } = tab
  await tab.go('#/decisions?template=choice&model=small&model=away', 'Decisions')
  await upload(tab, ['state,answer', 'x,billing'])
  await button(tab, 'Ask the cases').click()
  await page.locator('main [role=alert]').waitFor()
  t.match(await table(tab, 'Accuracy').innerText(), /small\t1\t0/, 'the answers of the first model stay')
  const file = join(t.testdir({ 'cases.csv': 'state,answer\nx,nothing' }), 'cases.csv')
  await page.getByLabel('File', { exact: true }).setInputFiles(file)
  await button(tab, 'Ask the cases').click()
  await page.getByText('Row 2 has no answer to this question.').waitFor()
  await writeFile(file, 'state,answer\nx is broken,billing')
  await utimes(file, 1, 1)
  await button(tab, 'Ask the cases').click()
  await page.getByText('The file was changed or moved since. Choose the file again.').waitFor()
}

const judging = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<void> => {
  const { page } = tab
  await tab.go('#/decisions?template=choice&model=small&model=large', 'Decisions')
  await page.getByText('More accuracy').click()
  await page.getByLabel('Backend', { exact: true }).fill('house')
  await button(tab, 'Ask the cases').click()
  t.match(await page.innerText('[role=alert]'), 'No file is chosen.')
  await upload(tab, ['state,answer', 'x,nothing'])
  await button(tab, 'Ask the cases').click()
  await page.getByText('Row 2 has no answer to this question.').waitFor()
  await upload(tab, cases)
  await button(tab, 'Ask the cases').click()
  await table(tab, 'Accuracy').getByRole('rowheader', { name: 'large' }).waitFor()
  const judged = Array.from({ length: count }, (_, at) => ({
    probabilities: labels.map((_, place) => (place === at % 3 ? claimOf(at) : (1 - claimOf(at)) / 2)),
    truth: truthOf(at),
  }))
  const { accuracy, ece } = figuresOf(judged, 1)
  t.equal(accuracy, 0.7)
  t.match(
    await table(tab, 'Accuracy').innerText(),
    new RegExp(`small\\t${count}\\t0\\t70%\\t${ece.toFixed(2)}\\t[^]*large\\t${count}\\t0\\t70%`),
  )
  t.match(await card(tab, 'Threshold').innerText(), 'small: no confidence keeps errors at 5% or below')
  t.equal(await page.locator('.square circle').count(), 2 * 5, 'a dot for each tenth that is claimed')
  t.equal(await table(tab, 'Calibration').locator('tbody tr').count(), 2 * 5)
  t.match(await card(tab, 'Labelled cases').innerText(), `${2 * count} of ${2 * count}`)
}

const right = Array.from({ length: count }, (_, at) => `case ${at},${labels[at % 3]}`)

const keeping = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<void> => {
  const { page } = tab
  await upload(tab, ['answer;state', ...right.map((text) => text.split(',').toReversed().join(';'))])
  await page.getByLabel('Errors').selectOption('10%')
  await button(tab, 'Ask the cases').click()
  await page.getByText('small: of answers with a confidence of at least').waitFor()
  await table(tab, 'Accuracy').getByRole('rowheader', { name: 'large' }).waitFor()
  await page.getByText('Configuration', { exact: true }).click()
  const config = JSON.parse(await page.getByRole('region', { name: 'Configuration of this question' }).innerText())
  const shown = Number(await table(tab, 'Accuracy').locator('tbody tr td').nth(7).innerText())
  t.same(
    config,
    { decision: { default: 'small', escalate: { below: shown, to: 'large' } } },
    'the threshold is taken over',
  )
}

const stopping = async (t: Test, stage: ConsoleStage, tab: Tab): Promise<void> => {
  const { page } = tab
  await page.getByRole('checkbox', { name: 'large' }).uncheck()
  await upload(tab, ['state,answer', ...right])
  const release = stage.holdNext()
  await button(tab, 'Ask the cases').click()
  await page.waitForFunction((all) => document.querySelector('progress')?.value === all - 1, count)
  await button(tab, 'Stop').click()
  await page.getByText(`Stopped after ${count - 1} of ${count}`).waitFor()
  release()
  t.match(await table(tab, 'Accuracy').innerText(), `small\t${count - 1}\t`, 'the answers so far are judged')
}

/** Everything that the gateway keeps or tells, searched for what was typed. */
const searching = async (t: Test, stage: ConsoleStage): Promise<void> => {
  const { rows: acts } = await stage.gateway.audit.list({ limit: 100, order: { by: 'at', descending: true } })
  const { rows: uses } = await stage.gateway.supply({ store: MetadataStore }).store.list(usages, {})
  const places = await filesIn(stage.folder)
  t.ok(places.size > 1, 'the stores are there')
  places.set('log', Buffer.from(JSON.stringify(stage.logged)))
  places.set('audit', Buffer.from(JSON.stringify(acts)))
  places.set('usage', Buffer.from(JSON.stringify(uses)))
  for (const path of ['/metrics', '/admin/backends', '/admin/usage', '/openapi.json'])
    places.set(path, Buffer.from(await (await stage.call('GET', path)).text()))
  t.same(traces([canary], places), [])
}

t.test('decisions in a browser', { skip: withoutChromium }, async (t) => {
  const stage = await consoleStage(t)
  const { credential } = await stage.gateway.keys.create({ scopes: ['chats.completion', 'models.read'] })
  const tab = await stage.browse({ locale: 'en-GB' })
  const heard: string[] = []
  tab.page.on('request', (request) => heard.push(request.url()))
  await tab.signIn(credential)
  t.same(await tab.page.locator('nav a').allInnerTexts(), [
    'Home',
    'Models',
    'Decisions',
    'Sealed playground',
    'Settings',
  ])
  await t.test('models answer side by side, by the keyboard', (t) => asking(t, stage, tab))
  await t.test('a question is edited, and a model that fails hides no other', (t) => editing(t, stage, tab))
  await t.test('what the page gives away runs', (t) => taking(t, { ...stage, key: credential }, tab))
  await t.test('each question has an id of its own', (t) => naming(t, tab))
  await t.test('a model that fails hides no figures', (t) => failing(t, tab))
  await t.test('labelled cases are judged in the tab', (t) => judging(t, stage, tab))
  await t.test('both schemes, narrow and wide: axe finds nothing', async (t) => {
    await button(tab, 'Ask').click()
    await tab.page.getByText('Answered by 2 of 2').waitFor()
    const hash = await tab.page.evaluate(() => location.hash)
    await looks(t, tab, [[hash, 'Decisions', 'decisions']])
  })
  await t.test('a threshold goes into the configuration', (t) => keeping(t, stage, tab))
  await t.test('a run is stopped', (t) => stopping(t, stage, tab))
  await t.test('what was typed is nowhere on the gateway', (t) => searching(t, stage))
  await t.test('nothing went elsewhere, and the policy was never broken', (t) => {
    t.notOk(
      heard.some((line) => line.includes(canary)),
      'no address has it',
    )
    t.same(tab.faults, [])
    t.end()
  })
})
