import './fakes/unwatched.ts'
import { createHash } from 'node:crypto'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { keptAnswer } from '../adapters/local/verify.ts'
import { writeKeys } from '../adapters/local/key-file.ts'
import { connect, newKek, newRagDek } from '../plugins/sealed/client/client.ts'
import { checkAttestation } from '../plugins/sealed/client/seal-request.ts'
import { type Mark, nothingStays, newCanary } from './fakes/canary.ts'
import { withoutChromium } from './fakes/chromium.ts'
import { looks } from './fakes/console-looks.ts'
import { type Tab, browsing, hostile } from './fakes/console-stage.ts'
import { type Consoled, consoled } from './fakes/consoled.ts'
import { type Dumped, dumped } from './fakes/dumped.ts'
import type { Asked, Recorded, Take } from './fakes/recorded.ts'
import { scripted } from './fakes/scripted.ts'
import { program } from './fakes/served.ts'
import { backend } from './contracts/stage.ts'
import { until } from './until.ts'

const run = promisify(execFile)

/** A model whose answer is markup with a mark; it is silent to the control. */
const model = (mark: Mark, control: string) => {
  const plays = scripted(() => [{ say: `${hostile.model} ${mark('answer')}` }])
  return (request: Asked): Take =>
    request.body.toString().includes(control) ? { body: '', pace: 'silent' } : plays(request)
}

interface Stage {
  readonly gateway: Dumped
  readonly mark: Mark
  readonly backend: Recorded
  readonly browse: ReturnType<typeof browsing>
  readonly folder: string
}

const main = ({ page }: Tab) => page.innerText('main')
const card = ({ page }: Tab, title: string) =>
  page.locator('section.card', { has: page.getByRole('heading', { name: title, exact: true }) }).first()
const owned = ({ page }: Tab) => page.evaluate('"owned" in globalThis')

const colourOf = (tab: Tab, selector: string) =>
  tab.page.locator(selector).evaluate((node) => getComputedStyle(node).color)

/** What the gateway saw, as the page tells it. */
const gatewaySaw = (tab: Tab) => tab.page.innerText('.exchanges')

const waitsFor = (tab: Tab, title: string, words: string) => card(tab, title).getByText(words).first().waitFor()

const proving = async (t: Test, { gateway, backend }: Stage, tab: Tab): Promise<void> => {
  const asked: string[] = []
  tab.page.on('request', (request) => asked.push(request.url()))
  await tab.signIn(gateway.key)
  t.notOk(
    asked.some((url) => url.includes('/sealed/')),
    'the client waits for its page',
  )
  await tab.go('#/sealed', 'Sealed playground')
  t.ok(asked.filter((url) => url.includes('/sealed/')).length > 100, 'and comes with it')
  await waitsFor(tab, 'What the enclave proves', 'This tab seals nothing to it.')
  await card(tab, 'Chat').getByLabel('Message').fill('Hello')
  await card(tab, 'Chat').getByRole('button').click()
  await waitsFor(tab, 'Chat', 'The enclave is a development one')
  await card(tab, 'What you demand').getByRole('checkbox').check()
  await waitsFor(tab, 'What the enclave proves', 'A development enclave: it proves nothing')
  t.equal(await colourOf(tab, '.verdict'), 'rgb(169, 34, 43)', 'in red')
  const proof = await card(tab, 'What the enclave proves').innerText()
  t.match(proof, /Challenge\s+[0-9a-f]{32}…\s+Evidence\s+dev\s+Epoch\s+\d+/)
  t.match(proof, /Keys\s+([0-9a-f]{16} )+/)
  await card(tab, 'What you demand').getByText('Policy', { exact: true }).click()
  await card(tab, 'What you demand').getByRole('textbox').fill('{"mesurements":[]}')
  await card(tab, 'What you demand').getByRole('checkbox').uncheck()
  await waitsFor(tab, 'What the enclave proves', 'mesurements is unknown')
  const calls = backend.asked.length
  await card(tab, 'Chat').getByLabel('Message').fill('Hello')
  await card(tab, 'Chat').getByRole('button').click()
  await waitsFor(tab, 'Chat', 'nothing is sent')
  t.equal(backend.asked.length, calls, 'demands of before open nothing')
  await card(tab, 'What you demand').getByRole('checkbox').check()
  await card(tab, 'What you demand').getByRole('textbox').fill('{"testRoots":{}}')
  await card(tab, 'What you demand').getByRole('button').click()
  await waitsFor(tab, 'What the enclave proves', 'testRoots is unknown')
  await card(tab, 'What you demand').getByRole('textbox').fill('')
  await card(tab, 'What you demand').getByRole('button').click()
  await waitsFor(tab, 'What the enclave proves', 'A development enclave: it proves nothing')
}

const chatting = async (t: Test, { mark, backend }: Stage, tab: Tab): Promise<void> => {
  const chat = card(tab, 'Chat')
  await chat.getByLabel('Message').fill(`Say it. ${mark('prompt')}`)
  await chat.getByRole('button').click()
  await tab.page.getByLabel('Answered').getByText(mark('answer')).waitFor()
  t.match(await chat.innerText(), mark('answer'))
  t.match(await chat.innerText(), hostile.model, 'markup of a model is text')
  t.ok(
    backend.asked.some(({ body }) => body.toString().includes(mark('prompt'))),
    'the enclave asked the backend',
  )
  await tab.page.locator('.exchanges').getByText('frame 1').waitFor()
  const saw = await gatewaySaw(tab)
  t.match(saw, /POST \/rvenc\/chat\/completions 200[^]*encryptedInference\s+\d+ bytes: [0-9a-f]{24}…[^]*cipherText/)
  t.notMatch(saw, mark('answer'))
  t.notMatch(saw, mark('prompt'))
}

const fileOf = (name: string, content: string, mimeType = 'text/plain') => ({
  name,
  mimeType,
  buffer: Buffer.from(content),
})

const filing = async (t: Test, { gateway, mark }: Stage, tab: Tab): Promise<string> => {
  const file = card(tab, 'File')
  const choose = (...given: Parameters<typeof fileOf>) => file.locator('input').setInputFiles(fileOf(...given))
  const store = () => file.getByRole('button', { name: 'Store sealed' }).click()
  const sent: string[] = []
  tab.page.on('request', (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`))
  for (const kek of [`{"kek":"${'ab'.repeat(32)}","wrapped_rag_dek":null}`, `${'ab'.repeat(32)}\n`]) {
    await choose('sealgate-keys.json', kek)
    await store()
    await waitsFor(tab, 'File', 'a page takes none')
  }
  t.same(sent, [], 'a key of the reader goes nowhere')
  await choose(`${mark('name')}<b>.txt`, `Herons ${mark('content')}`)
  await store()
  await tab.page.getByLabel('Answered').getByText(mark('content')).waitFor()
  t.match(await tab.page.getByLabel('Answered').innerText(), `${mark('name')}<b>.txt`, 'the name came back')
  const saw = await gatewaySaw(tab)
  t.match(saw, /POST \/files\/encrypted\/upload 200[^]*encrypted_name\s+\d+ bytes[^]*encrypted_content\s+\d+ bytes/)
  t.notMatch(saw, mark('content'))
  t.notMatch(saw, mark('name'))
  const id = /file_[\w-]+/.exec(await file.innerText())?.[0] ?? ''
  t.equal((await askedOf(gateway, `/files/encrypted/${id}`)).status, 200, 'the gateway keeps it')
  return id
}

const askedOf = ({ base, key }: Dumped, path: string) =>
  fetch(base + path, { headers: { authorization: `Bearer ${key}` } })

const tooling = async (t: Test, { mark }: Stage, tab: Tab): Promise<void> => {
  const tool = card(tab, 'Tool')
  t.notMatch(await tool.innerText(), '`', 'a description has code and no backticks')
  t.same(await tool.locator('small code').allInnerTexts(), ['Asia/Kolkata', '+05:30'])
  await tool.getByRole('button', { name: 'Run sealed' }).click()
  await waitsFor(tab, 'Tool', '"weekday"')
  await tool.getByRole('textbox').fill(JSON.stringify({ timezone: mark('zone') }))
  await tool.getByRole('button', { name: 'Run sealed' }).click()
  await waitsFor(tab, 'Tool', 'The request failed inside the enclave')
  await tool.getByRole('textbox').fill('[]')
  await tool.getByRole('button', { name: 'Run sealed' }).click()
  await waitsFor(tab, 'Tool', 'The parameters are one JSON object')
  t.notMatch(await gatewaySaw(tab), mark('zone'))
  await tool.getByRole('combobox').selectOption('getTextDocumentContent')
  t.match(await tool.getByRole('textbox').inputValue(), /"fileId": "file_/, 'a tool may read the file of this tab')
  await tool.getByRole('button', { name: 'Run sealed' }).click()
  await waitsFor(tab, 'Tool', mark('content'))
}

/** How each attack ends: what was tried, the end and who refused. */
const attacked = async (tab: Tab, title: string): Promise<readonly string[]> => {
  const pane = card(tab, 'Try to cheat')
  await pane.getByRole('button', { name: title }).click()
  await pane.getByText(`${title}: done`).waitFor({ timeout: 60_000 })
  return pane
    .locator('li')
    .evaluateAll((all) =>
      all.map((node) =>
        `${node.getAttribute('data-end')} ${/by the (enclave|client)/.exec(node.textContent ?? '')?.[1] ?? ''}`.trim(),
      ),
    )
}

const cheating = async (t: Test, tab: Tab): Promise<void> => {
  t.same(await attacked(tab, 'Change a byte'), ['answered', 'refused enclave', 'refused client'])
  t.same(await attacked(tab, 'Replay'), ['answered', 'refused enclave', 'refused client'])
  t.same(await attacked(tab, 'Splice'), ['answered', 'refused enclave', 'refused client'])
  t.same(await attacked(tab, 'Downgrade'), ['answered', 'refused client', 'refused client', 'refused client'])
  await tab.shot('sealed-attacked')
}

interface Inside {
  playgroundClient(node: object): unknown
  proofPane(): { readonly node: HTMLElement; verified(node: object, how: null): void }
}

/** The page's own modules, as the browser has loaded them. */
const inPage = async (t: Test, tab: Tab): Promise<void> => {
  // The compiler would rewrite an import that it sees.
  for (const name of ['playground-client', 'proof-pane'])
    await tab.page.evaluate(
      `import(document.querySelector('link[href$="/sealed/${name}.js"]').href).then((it) => void Object.assign(globalThis, it))`,
    )
  const seen = await tab.page.evaluate(() => {
    const { playgroundClient, proofPane } = globalThis as unknown as Inside
    const gateway = { base: '', raw: () => Promise.reject(new Error('asked')) }
    const taken = (() => {
      try {
        playgroundClient({ gateway, policy: {}, fetch, kek: 'ab'.repeat(32) })
        return 'taken'
      } catch (error) {
        return String(error)
      }
    })()
    const facts = {
      platform: 'sev-snp',
      product: 'Genoa',
      measurement: '',
      release: null,
      chip: null,
      tcb: {},
      ends: 0,
    }
    const lists = { collateral: [], exceptions: [], warnings: [], keyset: { epoch: 1, kids: [], ends: 0 } }
    const checks = [{ id: 'signature', ok: true }]
    const classes = ['platform', 'test', 'development', 'own'].map((verified) => {
      const pane = proofPane()
      pane.verified({ verified, ...facts, ...lists, checks }, null)
      const banner = pane.node.querySelector('.verdict')!
      return `${verified} ${banner.className} ${pane.node.textContent.includes('The hardware signed this report.')}`
    })
    return { taken, classes }
  })
  t.equal(seen.taken, 'TypeError: A page takes no key of its reader')
  t.same(seen.classes, [
    'platform verdict proved true',
    'test verdict unproved true',
    'development verdict unproved true',
    'own verdict unproved true',
  ])
}

const vouching = async (t: Test, { gateway, folder }: Stage, tab: Tab): Promise<void> => {
  const pane = card(tab, 'Who vouches for this page')
  t.match(await pane.innerText(), 'code served by a gateway cannot vouch for that gateway')
  const waiting = tab.page.waitForEvent('download')
  await pane.getByRole('button', { name: 'Download the evidence' }).click()
  const file = join(folder, 'evidence.json')
  await (await waiting).saveAs(file)
  const kept = await keptAnswer(file)
  const { proof } = await checkAttestation(kept, { allowInsecureDev: true }, kept.at)
  t.ok(proof.body.epoch > 0, 'sealgate verify takes the evidence')
  await pane.getByText(/^SHA-256 of the \d+ scripts/).click()
  const listed = (await pane.getByLabel('SHA-256 of the scripts').innerText()).split('\n').sort()
  const { stdout } = await run(process.execPath, [program, 'console', '--hashes'])
  t.same(listed, stdout.trim().split('\n').sort(), 'the installation prints the same')
  const address = await tab.page.locator('link[href$="/sealed/playground.js"]').getAttribute('href')
  const bytes = Buffer.from(await (await fetch(`${gateway.base}/${address}`)).arrayBuffer())
  t.ok(listed.includes(`${createHash('sha256').update(bytes).digest('hex')}  sealed/playground.js`))
}

const seenFiles = async (t: Test, { gateway, mark }: Stage, tab: Tab): Promise<void> => {
  const kek = newKek()
  const client = connect({ baseUrl: gateway.base, apiKey: gateway.key, kek })
  const { id, kid } = await client.files.upload({ name: mark('kept'), bytes: Buffer.from(mark('kept')) })
  await tab.go('#/files', 'Files')
  const row = tab.page.locator('tr', { hasText: id })
  t.match(await row.innerText(), new RegExp(`${id}\\s+\\d+\\s+.*${kid}\\s+general\\s+yes\\s+none`))
  t.match(await main(tab), /Stored by the organisation\s+[\d,]+\s+sealed bytes, no quota/)
  t.equal(
    await tab.page.locator('main input:not([type=search])').count(),
    0,
    'a page of the gateway takes no file and no key',
  )
  t.notMatch(await tab.page.content(), mark('kept'))
  await client.files.remove(id)
}

const ownPages = async (t: Test, { gateway, mark }: Stage, own: Consoled, tab: Tab): Promise<void> => {
  const { page } = tab
  const sent: string[] = []
  page.on('request', (request) => sent.push(`${request.url()} ${request.headers()['authorization'] ?? ''}`))
  await page.goto(own.address)
  await page.waitForSelector('nav')
  t.notMatch(page.url(), own.token, 'the token leaves the address')
  await tab.go('#/sealed', 'Sealed playground')
  await waitsFor(tab, 'What the enclave proves', 'A development enclave: it proves nothing')
  t.match(await card(tab, 'Who vouches for this page').innerText(), 'from the installation of sealgate on this machine')
  await card(tab, 'Chat').getByLabel('Message').fill(mark('again'))
  await card(tab, 'Chat').getByRole('button').click()
  await page.getByLabel('Answered').getByText(mark('answer')).waitFor()
  await tab.go('#/files', 'Files')
  await page.locator('input[type=file]').setInputFiles(fileOf(`${hostile.key}.txt`, `Storks nest. ${mark('own')}`))
  await page.getByRole('checkbox', { name: /Index it/ }).check()
  await page.getByRole('button', { name: 'Seal and store' }).click()
  await page.getByText('is stored.').waitFor()
  const row = page.getByRole('region', { name: 'Your files' }).locator('tbody tr')
  await row.getByText(hostile.key).waitFor()
  await row.getByRole('button', { name: 'Open' }).click()
  await page.getByText(mark('own')).waitFor()
  const found = async (): Promise<boolean> => {
    await page.getByLabel('Words').fill('storks')
    await page.getByRole('button', { name: 'Search' }).click()
    await page
      .locator('ol.steps li, main .note', { hasText: /Storks|Nothing is found/ })
      .first()
      .waitFor()
    return (await page.locator('ol.steps li').count()) > 0
  }
  t.ok(await until(found, 30_000, 200), 'what a file says is found')
  t.match(await page.locator('ol.steps').innerText(), hostile.key, 'under its name')
  await tab.shot('files-own-opened')
  t.match(await page.locator('.curl code').innerHTML(), gateway.base, 'a command asks the gateway itself')
  t.notOk(
    sent.some((line) => line.includes(gateway.key)),
    'the page never has the key of the gateway',
  )
  t.notMatch(await page.content(), gateway.key)
}

const ownLooks = async (t: Test, tab: Tab): Promise<void> => {
  await looks(t, tab, [['#/files', 'Files', 'files-own']])
  const row = tab.page.getByRole('region', { name: 'Your files' }).locator('tbody tr')
  await row.getByRole('button', { name: 'Remove' }).click()
  t.same(await tab.axe(), [], 'the question')
  await tab.page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await row.waitFor({ state: 'detached' })
  t.equal(await owned(tab), false)
  t.same(tab.faults, [])
}

const skip = withoutChromium || (process.platform !== 'linux' && 'Linux alone shows the memory of a process')

t.test('the sealed playground and files in a browser', { skip }, async (t) => {
  t.setTimeout(170_000)
  const folder = t.testdir({ data: {} })
  const { root, control, mark } = newCanary()
  const asked = await backend(t, model(mark, control))
  const upstreams = [{ provider: 'backend', model: 'm' }]
  const confidential = { standard: false, confidential: true, upstreams }
  const gateway = await dumped(t, folder, {
    providers: { backend: { use: 'openai', baseUrl: `${asked.url}/v1` } },
    models: { 'a-quiet': confidential, [hostile.model]: confidential, plain: { upstreams } },
    tools: { getTime: {}, getTextDocumentContent: {}, searchRag: {} },
    routing: { retries: 0, breaker: { faults: 1_000, ratio: 1 } },
  })
  const stage: Stage = { gateway, mark, backend: asked, browse: browsing(t), folder }
  const tab = await stage.browse(gateway.base)

  await t.test('a development enclave is red, and takes a word of the reader', (t) => proving(t, stage, tab))
  await t.test('a chat is sealed before the reader’s eyes', (t) => chatting(t, stage, tab))
  const file = { id: '' }
  await t.test('a file is sealed, and no key of the reader is taken', async (t) => {
    file.id = await filing(t, stage, tab)
  })
  await t.test('a tool runs sealed', (t) => tooling(t, stage, tab))
  await t.test('each attack is refused by the client or the enclave', (t) => cheating(t, tab))
  await t.test('only a platform is green, and the client takes no key of the reader', (t) => inPage(t, tab))
  await t.test('the page vouches for nothing, and lends its evidence', (t) => vouching(t, stage, tab))
  await t.test('files are what the gateway sees of them', (t) => seenFiles(t, stage, tab))
  await t.test('a file of the playground goes with the page', async (t) => {
    t.ok(await until(async () => (await askedOf(gateway, `/files/encrypted/${file.id}`)).status === 404))
  })
  await t.test('both schemes, narrow and wide: axe finds nothing', async (t) => {
    await looks(t, tab, [
      ['#/sealed', 'Sealed playground', 'sealed'],
      ['#/files', 'Files', 'files'],
    ])
    t.equal(await owned(tab), false)
    t.same(tab.faults, [], 'nothing went elsewhere, and the policy was never broken')
  })

  const keys = join(folder, 'keys.json')
  const kek = newKek()
  await writeKeys(keys, { kek, wrapped_rag_dek: newRagDek(kek) }, false)
  const own = await consoled(t, ['--gateway', gateway.base, '--allow-insecure-dev', '--keys', keys], {
    SEALGATE_KEY: gateway.key,
  })
  const ownTab = await stage.browse(own.base)
  await t.test('the own machine shows names, content and search', (t) => ownPages(t, stage, own, ownTab))
  await t.test('its pages look well', (t) => ownLooks(t, ownTab))
  t.notMatch(await readFile(keys, 'utf8'), root)

  await nothingStays(t, [gateway, folder], asked, { root, control })
})
