import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { launchChromium } from './chromium.ts'

interface Esbuild {
  build(options: object): Promise<{ outputFiles: readonly { text: string }[] }>
}

// tsx brings esbuild along.
const require = createRequire(createRequire(import.meta.url).resolve('tsx/package.json'))
const { build } = require('esbuild') as Esbuild

/** Runs inside the page: what each evidence says, and the ms of some runs after it is warm. */
const page = readFileSync('test/fakes/evidence-page.mjs', 'utf8')

export interface AskedEvidence {
  readonly evidence: object
  readonly policy: object
  /** Hashes of test roots, in hex; none for the pinned ones. */
  readonly roots?: { readonly snp?: string; readonly tdx?: string; readonly nitro?: string }
  /** Ms. */
  readonly now: number
  /** 64 bytes in hex. */
  readonly reportData: string
}

export interface AskedService {
  readonly service: string
  readonly document: string
  readonly lists: object
  /** Hashes in hex. */
  readonly testRoots: object
  readonly nonce: string
  readonly now: number
  /** What each report in hex is completed to. */
  readonly evidence: object
}

export interface EvidenceTab {
  /** `test`, or the reason. */
  judged(asked: AskedService): Promise<string>
  /** The verdict or the reason. `times` asks for so many figures in ms after it. */
  tried(asked: AskedEvidence, times?: number): Promise<{ readonly said: string; readonly ms: readonly number[] }>
  /** Ms of one signature of P-384, so many times. */
  signing(times: number): Promise<readonly number[]>
  close(): Promise<void>
}

/** What the script above leaves in the page. */
interface Inside {
  judged(asked: object): Promise<string>
  tried(asked: object): ReturnType<EvidenceTab['tried']>
  signing(times: number): ReturnType<EvidenceTab['signing']>
}

/** A page of Chromium that has the bundle of the verifiers. */
export const evidenceTab = async (): Promise<EvidenceTab> => {
  const { outputFiles } = await build({
    stdin: { contents: page, resolveDir: process.cwd() },
    ...{ bundle: true, minify: true, write: false, format: 'esm', platform: 'browser', target: 'es2022' },
  })
  const server = createServer((_, answer) => answer.setHeader('content-type', 'text/html').end('<!doctype html>'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const browser = await launchChromium()
  const tab = await browser.newPage()
  await tab.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  await tab.addScriptTag({ content: outputFiles[0]!.text, type: 'module' })
  await tab.waitForFunction('globalThis.tried !== undefined')
  return {
    tried: (asked, times = 0) =>
      tab.evaluate((asked) => (globalThis as unknown as Inside).tried(asked), { ...asked, times }),
    judged: (asked) => tab.evaluate((asked) => (globalThis as unknown as Inside).judged(asked), asked),
    signing: (times) => tab.evaluate((times) => (globalThis as unknown as Inside).signing(times), times),
    async close() {
      await browser.close()
      server.close()
    },
  }
}
