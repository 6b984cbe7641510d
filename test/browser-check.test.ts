import './fakes/unwatched.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Browser, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { launchChromium, withoutChromium } from './fakes/chromium.ts'
import { day, house, list, now, platform, release } from './fakes/platform/house.ts'
import { answersFor } from './fakes/platform/services.ts'
import { makeSnp } from './fakes/platform/snp.ts'
import { running } from './environments.ts'
import { memory } from '../adapters/memory/index.ts'
import type { Client } from '../plugins/sealed/client/client.ts'
import { until } from './until.ts'

const measurement = 'ab'.repeat(48)
const roots = [...platform.roots.Genoa!]

/** What the module of the page exports. */
interface ExamplePage {
  check(gateway: string, key: string, policy: object): Promise<Client>
  showVerdict(verdict: object): void
}

/** The example's page, served as its own program serves it: an origin of its own. */
const pageOrigin = async (t: Test): Promise<string> => {
  const child = spawn(process.execPath, ['examples/browser/serve.mjs'], {
    env: { PATH: process.env['PATH'], PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return line.toString().trim()
}

let browser: Promise<Browser> | null = null
t.teardown(async () => (await browser)?.close())

/** A tab that shares neither a cache nor a memory with another. */
const browse = async (t: Test, origin: string) => {
  browser ??= launchChromium()
  const context = await (await browser).newContext()
  t.teardown(() => context.close())
  const tab = await context.newPage()
  const faults: string[] = []
  tab.on('pageerror', (error) => faults.push(error.message))
  await tab.goto(origin)
  await tab.addScriptTag({ type: 'module', content: `import * as page from '/page.mjs'; globalThis.page = page` })
  await tab.waitForFunction('globalThis.page !== undefined')
  return { tab, faults }
}

/** What a reader sees: the line, whether it is green, and the details. */
const seen = async (tab: Page) => {
  const line = tab.locator('#line')
  return {
    line: await line.textContent(),
    green: (await line.evaluate((verdict) => getComputedStyle(verdict).color)) === 'rgb(10, 107, 45)',
    checks: await tab.locator('#checks li').allTextContents(),
  }
}

/** Fills in the form with a policy file, as a person does. */
const asked = async (tab: Page, gateway: string, key: string, policy: object) => {
  await tab.fill('[name=gateway]', gateway)
  await tab.fill('[name=key]', key)
  await tab.fill('[name=policy]', JSON.stringify(policy))
  await tab.click('button')
  await tab.waitForFunction(() => !['', '…'].includes(document.querySelector('#line')!.textContent!))
  return seen(tab)
}

/** The same page, whose code names test roots, which no file can. */
const checked = async (tab: Page, gateway: string, key: string, policy: object) => {
  const told = { gateway, key, policy, roots }
  await tab.evaluate(async ({ gateway, key, policy, roots }) => {
    const { page } = globalThis as unknown as { page: ExamplePage }
    const testRoots = { 'sev-snp': { Genoa: Uint8Array.from(roots) } }
    await page.check(gateway, key, { ...policy, testRoots })
  }, told)
  return seen(tab)
}

const skip = withoutChromium
t.test('a page of another origin verifies the enclave by itself', { skip }, async (t) => {
  const [origin, stranger] = await Promise.all([pageOrigin(t), pageOrigin(t)])
  const scene = await house(t, [0xab], { cors: { origins: [origin] } })
  const ended = makeSnp({ now, reportData: new Uint8Array(64), crl: { issued: now - 60 * day, ends: now - 8 * day } })
  scene.service.say({ crl: answersFor(ended.evidence)['crl']! })
  const { tab, faults } = await browse(t, origin)
  const policy = { measurements: [measurement] }
  const tried = (own: object = policy) => checked(tab, scene.base, scene.key, own)

  const late = await tried()
  t.match(late, { green: false, line: /^✗ The .*collateral_expired/ }, 'collateral that ended')
  scene.service.say(answersFor(platform.evidence))
  t.ok(await until(async () => (await tried()).line === '! TEST PLATFORM: proves nothing', 60_000), 'and came back')
  const fine = await tried()
  t.equal(fine.green, false, 'a test is never green')
  t.match(fine.checks.join('\n'), /✓ AMD SEV-SNP, Genoa.*\n.*✓ these keys, for a question asked just now/s)
  t.match(fine.checks.at(-1), /^verified until /)

  const file = await asked(tab, scene.base, scene.key, policy)
  t.match(file, { green: false, line: /^✗ The .*root_unknown/ }, 'a policy file knows no test roots')
  t.ok(file.checks.includes('✗ certificates'))
  const loose = await asked(tab, scene.base, scene.key, { testRoots: {} })
  t.match(loose, { green: false, line: /testRoots is unknown/, checks: [] })
  t.match(await tried({ measurements: ['cd'.repeat(48)] }), { line: /measurement_not_allowed/ })

  const digest = await scene.digestOf('e0')
  const releases = { keys: [scene.signer.key], threshold: 1 }
  await scene.publish(list(1, [release('1.0', digest, 'current', 0xab)]))
  const listed = await tried({ releases })
  t.match(listed.checks.join('\n'), /✓ runs release 1\.0 \(current\).*which covers the whole image/)
  await scene.publish(list(2, [release('1.0', digest, 'withdrawn', 0xab)]))
  t.match(await tried({ releases }), { green: false, line: /release_withdrawn/ })
  await scene.publish(list(1, [release('1.0', digest, 'current', 0xab)]))
  t.match(await tried({ releases }), { line: /releases_rolled_back/ }, 'the browser remembers')

  /** One byte of the answer is another one on its way. */
  const changed = async (member: RegExp) => {
    await tab.route('**/rvenc/attestation*', async (route) => {
      const answer = await route.fetch()
      const body = (await answer.text()).replace(member, (_, before: string, digit: string) =>
        before.concat(digit === '0' ? '1' : '0'),
      )
      await route.fulfill({ response: answer, body })
    })
    const shown = await tried()
    await tab.unroute('**/rvenc/attestation*')
    return shown.line
  }
  t.match(await changed(/("report":"[0-9a-f]{300})([0-9a-f])/), /signature_invalid/, 'a changed byte of the report')
  t.match(await changed(/("vek":"[0-9a-f]{1500})([0-9a-f])/), /chain_broken|evidence_malformed/, 'of the certificate')
  t.match(await changed(/("crl":"[0-9a-f]{900})([0-9a-f])/), /crl_invalid|evidence_malformed/, 'of the list')
  t.match(await changed(/("keyset":"[0-9a-f]{60})([0-9a-f])/), /report_data_mismatch/, 'of the keys')

  const text = await tab.evaluate(
    async ({ gateway, key, roots, measurement }) => {
      const { page } = globalThis as unknown as { page: ExamplePage }
      const testRoots = { 'sev-snp': { Genoa: Uint8Array.from(roots) } }
      const client = await page.check(gateway, key, { measurements: [measurement], testRoots })
      const messages = [{ role: 'user' as const, content: 'herons' }]
      return (await client.chat.completions.create({ model: 'rehearsal', messages })).choices[0]!.message.role
    },
    { gateway: scene.base, key: scene.key, roots, measurement },
  )
  t.equal(text, 'assistant', 'the page seals to the keys that it proved')

  const platformLine = async (verified: string) => {
    await tab.evaluate((verified) => {
      const { page } = globalThis as unknown as { page: ExamplePage }
      const facts = {
        platform: 'sev-snp',
        product: 'Turin',
        measurement: '',
        release: null,
        chip: null,
        tcb: {},
        ends: 0,
      }
      const lists = { collateral: [], exceptions: [], warnings: [], keyset: { epoch: 1, kids: [], ends: 0 } }
      page.showVerdict({ verified, ...facts, ...lists })
    }, verified)
    return (await seen(tab)).green
  }
  t.equal(await platformLine('platform'), true, 'green for a platform')
  for (const other of ['test', 'development', 'own', '']) t.equal(await platformLine(other), false, `not for ${other}`)

  const elsewhere = await browse(t, stranger)
  const refused = await checked(elsewhere.tab, scene.base, scene.key, policy)
  t.match(refused, { green: false, line: /✗ The gateway could not be reached/ }, 'an origin that no setting names')
  t.strictSame([...faults, ...elsewhere.faults], [])
})

t.test('a development enclave is never green', { skip }, async (t) => {
  const origin = await pageOrigin(t)
  const gateway = await running(t, memory(), { cors: { origins: [origin] } })
  const { tab } = await browse(t, origin)
  t.match(await checked(tab, gateway.base, gateway.key, {}), {
    green: false,
    line: /development one and proves nothing/,
  })
  const allowed = await checked(tab, gateway.base, gateway.key, { allowInsecureDev: true })
  t.match(allowed, { green: false, line: '! development: proves nothing' })
})
