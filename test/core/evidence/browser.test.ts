import { access } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRequire } from 'node:module'
import { chromium } from 'playwright-core'
import t from 'tap'
import { toHex } from '../../../core/sealed/wire/hex.ts'
import { makeSnp } from '../../fakes/platform/snp.ts'
import { readDocument } from '../../../core/sealed/evidence/nitro-document.ts'
import { json, sample } from './samples.ts'
import { slowness } from '../../slowness.ts'

interface Esbuild {
  build(options: object): Promise<{ outputFiles: readonly { text: string }[] }>
}

const require = createRequire(createRequire(import.meta.url).resolve('tsx/package.json'))
const { build } = require('esbuild') as Esbuild
const executablePath = '/usr/bin/chromium'
const there = await access(executablePath).then(
  () => true,
  () => false,
)

/** Runs inside the page: what each evidence says, and the fewest ms that it takes when warm. */
const page = `
  import { appraise } from './dist/core/sealed/evidence/appraise.js'
  import { Refusal } from './dist/core/sealed/evidence/reasons.js'
  const bytes = (hex) => Uint8Array.from(hex.match(/../g), (it) => parseInt(it, 16))
  globalThis.tried = async ({ evidence, policy, roots, now, reportData }) => {
    const half = (from) => bytes(reportData.slice(from, from + 64))
    const question = { keysetHash: half(0), challenge: half(64), releaseDigest: new Uint8Array(32), now }
    const own = roots ? { ...policy, testRoots: { 'sev-snp': { Genoa: bytes(roots) } } } : policy
    const once = () => appraise(evidence, own, question).then(
      ({ verified, platform }) => verified + ' ' + platform,
      (error) => error instanceof Refusal ? error.reason : 'another error: ' + error,
    )
    const said = await once()
    await once()
    const times = []
    for (let left = 10; left > 0; left--) {
      const began = performance.now()
      await once()
      times.push(performance.now() - began)
    }
    return { said, ms: Math.min(...times) }
  }`

t.test('the same evidence says the same in Chromium', { skip: there ? false : 'there is no Chromium' }, async (t) => {
  const { outputFiles } = await build({
    stdin: { contents: page, resolveDir: process.cwd() },
    ...{ bundle: true, minify: true, write: false, format: 'esm', platform: 'browser', target: 'es2022' },
  })
  const server = createServer((_, answer) => answer.setHeader('content-type', 'text/html').end('<!doctype html>'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  t.teardown(async () => {
    await browser.close()
    server.close()
  })
  const tab = await browser.newPage()
  await tab.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  await tab.addScriptTag({ content: outputFiles[0]!.text, type: 'module' })
  await tab.waitForFunction('globalThis.tried !== undefined')
  const tried = (asked: object) =>
    tab.evaluate(
      (asked) => (globalThis as unknown as { tried(it: object): Promise<{ said: string; ms: number }> }).tried(asked),
      asked,
    )

  const quote = sample('tdx/phala_tdx_quote')
  const tdx = { type: 'tdx', v: 1, quote: toHex(quote), collateral: json('tdx/phala_tdx_quote_collateral.json') }
  const measurements = ['81'.repeat(48)]
  const now = Date.parse('2025-06-20')
  // The image of a stranger is nobody's release: everything before it holds.
  const reportData = toHex(quote.subarray(48 + 520, 48 + 584))
  const real = await tried({ evidence: tdx, policy: { measurements }, now, reportData })
  t.equal(real.said, 'measurement_not_allowed')
  t.ok(real.ms / slowness() < 50, `TDX takes ${real.ms.toFixed(1)} ms`)
  const changed = { ...tdx, quote: `${tdx.quote.slice(0, 400)}00${tdx.quote.slice(402)}` }
  t.equal((await tried({ evidence: changed, policy: { measurements }, now, reportData })).said, 'signature_invalid')

  const at = Date.now()
  const snp = makeSnp({ now: at, reportData: quote.subarray(48 + 520, 48 + 584) })
  const policy = { measurements: ['ab'.repeat(48)] }
  const asked = { evidence: snp.evidence, policy, roots: snp.root, now: at, reportData }
  const test = await tried(asked)
  t.equal(test.said, 'test sev-snp')
  t.ok(test.ms / slowness() < 50, `SEV-SNP takes ${test.ms.toFixed(1)} ms`)
  t.equal((await tried({ ...asked, roots: null })).said, 'root_unknown')
  t.equal((await tried({ ...asked, reportData: '00'.repeat(64) })).said, 'report_data_mismatch')

  const document = sample('nitro/nitro_valid-attestation-doc-bytes')
  const nitro = { type: 'nitro', v: 1, document: toHex(document) }
  const then = readDocument(document).timestamp + 1000
  const amazon = await tried({ evidence: nitro, policy: { ...policy, platforms: ['nitro'] }, now: then, reportData })
  t.equal(amazon.said, 'report_data_mismatch', 'its user data is not ours')
  t.ok(amazon.ms / slowness() < 50, `Nitro takes ${amazon.ms.toFixed(1)} ms`)
})
