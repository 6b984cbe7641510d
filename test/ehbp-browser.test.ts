import { readFile } from 'node:fs/promises'
import './fakes/unwatched.ts'
import { createRequire } from 'node:module'
import t, { type Test } from 'tap'
import { launchChromium, withoutChromium } from './fakes/chromium.ts'
import {
  type AnswerChange,
  completion,
  ehbpServer,
  spoiledAnswers,
  streamed,
  wholeAnswers,
} from './fakes/ehbp-server.ts'
import { sealedStage } from './fakes/sealing.ts'

const require = createRequire(createRequire(import.meta.url).resolve('tsx/package.json'))
const { build } = require('esbuild') as {
  build(options: object): Promise<{ outputFiles: readonly { text: string }[] }>
}

/** Runs inside the page: our client, and the package of others, unmodified. */
const script = await readFile('test/fakes/ehbp-page.mjs', 'utf8')

/** What the script leaves in the page. */
interface Inside {
  read(options: object, url: string): Promise<string>
  chat(options: object, params: object): Promise<string>
  others(base: string, path: string, headers: object, body: string): Promise<string>
}

/** A page at this address with the script, and the bodies that left it. */
const opened = async (t: Test, address: string) => {
  const { outputFiles } = await build({
    stdin: { contents: script, resolveDir: process.cwd() },
    ...{ bundle: true, minify: true, write: false, format: 'esm', platform: 'browser', target: 'es2022' },
  })
  const browser = await launchChromium()
  t.teardown(() => browser.close())
  const tab = await browser.newPage()
  const sent: string[] = []
  tab.on('request', (request) => sent.push(request.postDataBuffer()?.toString('latin1') ?? ''))
  await tab.goto(address)
  await tab.addScriptTag({ content: outputFiles[0]!.text, type: 'module' })
  await tab.waitForFunction('globalThis.others !== undefined')
  return { tab, sent }
}

t.test('in a real browser our client refuses what it refuses in Node', { skip: withoutChromium }, async (t) => {
  let change: AnswerChange = wholeAnswers.json
  const server = await ehbpServer(t, () => change)
  const { tab } = await opened(t, `${server.base}/`)
  const key = { kem: 'x25519', publicKey: server.publicKey }
  const read = (more: object = {}) =>
    tab.evaluate(([options, url]) => (globalThis as unknown as Inside).read(options, url), [
      { baseUrl: `${server.base}/v1`, apiKey: 'any', key, ...more },
      `${server.base}/v1/chat/completions`,
    ] as const)
  t.equal(await read(), `200 ${JSON.stringify(completion)}`)
  change = wholeAnswers.stream
  t.equal(await read(), `200 ${streamed.join('')}`)
  for (const [name, [wrong, fault]] of Object.entries(spoiledAnswers)) {
    change = wrong
    t.equal(await read(), fault, name)
  }
  change = { status: 503, plain: ['forged'], withoutNonce: true }
  t.equal(await read({ acceptClearRefusals: true }), '503 forged', 'by choice')
  change = { type: 'text/plain', plain: ['a'] }
  t.equal(await read({ acceptOpenEnds: true }), '200 a', 'by choice')
})

t.test('a page of another origin chats with the enclave by both clients', { skip: withoutChromium }, async (t) => {
  const { base: origin } = await ehbpServer(t, () => wholeAnswers.json)
  const stage = await sealedStage(t, { settings: { cors: { origins: [origin] } } })
  const { tab, sent } = await opened(t, `${origin}/`)
  const secret = 'the otters of Cold Quay'
  const ask = { model: 'quiet', messages: [{ role: 'user', content: secret }] }
  const options = { baseUrl: `${stage.base}/ehbp/v1`, apiKey: stage.apiKey, policy: { allowInsecureDev: true } }
  for (const stream of [false, true]) {
    const text = await tab.evaluate(([options, params]) => (globalThis as unknown as Inside).chat(options, params), [
      options,
      { ...ask, stream },
    ] as const)
    t.equal(text, secret)
  }
  const headers = { authorization: `Bearer ${stage.apiKey}`, 'content-type': 'application/json' }
  const text = await tab.evaluate(
    ([base, path, headers, body]) => (globalThis as unknown as Inside).others(base, path, headers, body),
    [stage.base, '/ehbp/v1/chat/completions', headers, JSON.stringify(ask)] as const,
  )
  t.match(text, new RegExp(`^200 .*${secret}`), 'the package of others, unmodified')
  t.equal(stage.calls.length, 3)
  t.notMatch(sent.join(''), /otters/, 'no plaintext leaves the page')
})
