import './fakes/unwatched.ts'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { bootGateway } from '../adapters/production/commands/boot-gateway.ts'
import { withoutChromium } from './fakes/chromium.ts'
import { backend } from './contracts/stage.ts'
import { looks } from './fakes/console-looks.ts'
import { scripted } from './fakes/scripted.ts'
import { type Tab, browsing, hostile } from './fakes/console-stage.ts'

const secret = 'sk-literal-key-of-the-account'
/** The secret of a backend that no file has. */
const typed = 'sk-typed-for-the-trial'

const parts = {
  // A file of the operators, with a name that a page could take for markup.
  providers: {
    house: { use: 'openai', baseUrl: 'https://models.example/v1', apiKey: '$HOUSE_KEY' },
    literal: { use: 'openai', apiKey: secret },
  },
  models: { small: { upstreams: [{ provider: 'house' }] }, [hostile.model]: { upstreams: [{ provider: 'house' }] } },
  enclave: { providers: { rehearsal: { use: 'rehearsal' } } },
}

/** A gateway that reads a file, and its console. */
const stage = async (t: Test) => {
  const answer = scripted(() => [{ say: 'yes' }])
  const fresh = await backend(t, (request) =>
    request.headers.authorization === `Bearer ${typed}` ? answer(request) : { status: 401, body: '{}' },
  )
  const folder = t.testdir()
  const file = join(folder, 'sealgate.jsonc')
  const write = (document: object | string) =>
    writeFile(file, typeof document === 'string' ? document : JSON.stringify(document))
  const base = { ...parts, outside: { allow: ['127.0.0.1'], ports: [Number(new URL(fresh.url).port)] } }
  await write(base)
  const { gateway } = await bootGateway({
    SEALGATE_CONFIG: file,
    SEALGATE_DATA: join(folder, 'data'),
    SEALGATE_LOG: 'silent',
    HOUSE_KEY: 'sk-key-from-a-variable',
  })
  const server = gateway.server().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.close()
    server.closeAllConnections()
    await gateway.close()
  })
  const open = browsing(t)
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const key = async (of: Parameters<typeof gateway.keys.create>[0] = {}) => (await gateway.keys.create(of)).credential
  return { base, fresh, write, key, browse: () => open(address) }
}

type Stage = Awaited<ReturnType<typeof stage>>

const section = ({ page }: Tab, title: string) =>
  page.locator('section', { has: page.getByRole('heading', { name: title, exact: true }) })

const text = ({ page }: Tab) => page.innerText('main')

const looking = async (t: Test, tab: Tab): Promise<void> => {
  const { page } = tab
  await tab.go('#/settings', 'Settings')
  const words = await text(tab)
  t.match(words, /File\s+sealgate\.jsonc/)
  t.match(words, 'Nothing: the file is what is in effect.')
  t.match(words, /providers\.house\.apiKey\s+\$HOUSE_KEY\s+variable, set/)
  t.match(words, /providers\.literal\.apiKey\s+hidden\s+file/)
  t.match(words, `models.${JSON.stringify(hostile.model)}.upstreams.0.provider`, 'a name with markup is text')
  t.notMatch(words, 'routing.retries', 'a default is left out')
  t.equal(await page.evaluate('"owned" in globalThis'), false)
  const code = await page.content()
  t.notOk(code.includes(secret) || code.includes('sk-key-from-a-variable'))
  await page.getByRole('searchbox', { name: 'Search settings' }).focus()
  await page.keyboard.type('Retries')
  await page.getByText('No setting has these words.').waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  await page.getByText('routing.retries').waitFor()
  t.match(page.url(), /#\/settings\?find=Retries&defaults=1$/, 'the address leads back to the same settings')
  t.match(await section(tab, '1 setting').innerText(), /routing\.retries\s+2\s+default/)
  t.match(await section(tab, 'Enclaves').innerText(), /answers\s+dev, which proves nothing\s+.*from now/)
}

const changing = async (t: Test, { base, write }: Stage, tab: Tab): Promise<void> => {
  const { page, go, axe } = tab
  const literal = { use: 'openai', apiKey: `${secret}-2` }
  const changed = { ...base, providers: { ...base.providers, literal }, routing: { retries: 3 } }
  await write({ ...changed, server: { drain: 5 } })
  await go('#/home', 'Home')
  await go('#/settings', 'Settings')
  const differences = section(tab, 'What the file has differently')
  t.match(await differences.innerText(), /routing\.retries\s+changed it\s+2\s+3\s+a reload/)
  t.match(await differences.innerText(), /server\.drain\s+changed it\s+600000\s+5\s+a restart/)
  t.match(await differences.innerText(), /providers\.literal\.apiKey\s+changed it\s+hidden\s+hidden\s+a reload/)
  await tab.shot('settings-changes')
  const reload = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Reload' }).click()
  }
  await reload()
  t.match(await page.getByRole('dialog').getByRole('alert').innerText(), /server can't be changed/)
  await page.keyboard.press('Escape')
  await write('{ "routing": { "retry": 3 },\n  "limits": { "keys": 1 } }')
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByText('2 faults').waitFor()
  t.match(await page.getByRole('alert').innerText(), /sealgate\.jsonc:1:16 routing\.retry is not a known setting/)
  t.match(await page.getByRole('alert').innerText(), /sealgate\.jsonc:2:15 limits\.keys/)
  t.same(await axe(), [], 'with faults')
  await tab.shot('settings-faults')
  await write({ ...changed, models: { small: { upstreams: [{ provider: 'huose' }] } } })
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByText('models.small.upstreams.0.provider is not a provider; did you mean house?').waitFor()
  await write(changed)
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByText('No faults').waitFor()
  await reload()
  await page.getByText('is in effect').first().waitFor()
  await page.getByText('Nothing: the file is what is in effect.').waitFor()
  t.equal(await page.getByRole('dialog').count(), 0)
}

const weighing = async (t: Test, tab: Tab): Promise<void> => {
  const { page } = tab
  await tab.go('#/models/weights/small', 'small')
  await page.getByLabel('Weight of house').fill('3')
  await page.getByRole('button', { name: 'Check and call' }).click()
  await page.getByText('The file with these lines has no faults.').waitFor()
  await page.getByText(/^The test call of small /).waitFor()
  t.match(await text(tab), /models\.small\.upstreams\.0\.weight\s+\w+ it\s+\S+\s+3\s+a reload/)
  t.same(await tab.axe(), [])
  await tab.shot('weights-checked')
  await page.getByLabel('Weight of house').fill('2')
  t.equal(
    await page.getByText('The file with these lines has no faults.').count(),
    0,
    'another change is not checked yet',
  )
}

/** By the keyboard alone. */
const writing = async (t: Test, { fresh }: Stage, tab: Tab): Promise<void> => {
  const { page } = tab
  await tab.go('#/settings/lines', 'New lines')
  const write = async (label: string, words: string): Promise<void> => {
    await page.getByLabel(label, { exact: true }).focus()
    await page.keyboard.type(words)
  }
  await write('Name of the backend', 'fresh')
  await write('Address', `${fresh.url}/v1`)
  await write('Variable of the secret', 'FRESH_KEY')
  await write('Secret for the test call', typed)
  await write('Name of the model', hostile.model)
  await write('Name at the backend', 'own')
  await write('Words', 'unicorn')
  const lines = JSON.parse(await page.innerText('pre code')) as object
  t.same(lines, {
    providers: { fresh: { use: 'openai', baseUrl: `${fresh.url}/v1`, apiKey: '$FRESH_KEY' } },
    models: { [hostile.model]: { upstreams: [{ provider: 'fresh', model: 'own' }] } },
    guards: { words: { lists: { own: { words: ['unicorn'], then: 'refuse' } } } },
  })
  await page.keyboard.press('Enter')
  await page.getByText('The file with these lines has no faults.').waitFor()
  await page.getByText(/^The test call of .* was answered in \d+ ms\.$/).waitFor()
  t.match(await text(tab), /providers\.fresh\.apiKey\s+added it\s+–\s+\$FRESH_KEY/)
  t.equal(fresh.asked.filter(({ path }) => path.endsWith('/chat/completions')).length, 1, 'a true call')
  t.notOk((await page.innerText('main')).includes(typed), 'the secret stands in no line, no table and no command')
  t.equal(await page.evaluate('"owned" in globalThis'), false)
  t.same(await tab.axe(), [])
  await tab.shot('lines-tried')
  await page.getByLabel('Secret for the test call', { exact: true }).fill('sk-mistyped')
  await page.getByRole('button', { name: 'Check and call' }).click()
  await page.getByText(/^The test call of .* ended with 502/).waitFor()
  await page.getByLabel('Words', { exact: true }).fill('')
  await page.getByLabel('Backend', { exact: true }).fill('nobody')
  await page.getByRole('button', { name: 'Check and call' }).click()
  await page.getByText(/is not a provider/).waitFor()
}

t.test('the settings in a browser', { skip: withoutChromium }, async (t) => {
  const scene = await stage(t)
  const tab = await scene.browse()
  await tab.signIn(await scene.key())

  await t.test('the configuration in effect is told, and no secret', (t) => looking(t, tab))

  await t.test('both schemes, narrow and wide: axe finds nothing', (t) =>
    looks(t, tab, [
      ['#/home', 'Home', 'home-of-settings'],
      ['#/settings', 'Settings', 'settings-file'],
      ['#/settings/lines', 'New lines', 'lines'],
    ]),
  )

  await t.test('a changed file is shown, checked and reloaded', (t) => changing(t, scene, tab))

  await t.test('lines for the file are made, checked and called, and no secret is read back', (t) =>
    writing(t, scene, tab),
  )

  await t.test('a change of weights is tried before it is pasted', (t) => weighing(t, tab))

  await t.test('who is no operator sees no configuration', async (t) => {
    const other = await scene.browse()
    await other.signIn(await scene.key({ organization: 'other' }))
    await other.go('#/settings', 'Settings')
    t.match(await text(other), 'The configuration is shown to operators.')
    t.equal(await other.page.getByRole('button', { name: 'Reload' }).count(), 0)
    t.equal(await other.page.getByRole('button', { name: 'Check' }).count(), 0)
    t.same(other.faults, [])
  })

  t.same(tab.faults, [])
})
