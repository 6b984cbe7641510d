import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { Test } from 'tap'
import { checkedConfig } from '../../adapters/production/config/config.ts'
import { production } from '../../adapters/production/index.ts'
import { BadRequest } from '../../core/errors.ts'
import { use } from '../../core/plugin.ts'
import openai from '../../plugins/providers/openai.ts'
import { type Running, running } from '../environments.ts'
import { launchChromium } from './chromium.ts'
import { decidingAnswer } from './console-deciding.ts'
import type { Recorded } from './recorded.ts'
import { scripted } from './scripted.ts'
import { backend } from '../contracts/stage.ts'

/** Names that would run in a page that took them for markup. */
export const hostile = {
  model: `<img src=x onerror="globalThis.owned=1">`,
  key: `"><script>globalThis.owned=1</script><b>key`,
} as const

export interface ConsoleStage extends Running {
  /** The backend that answers; it is also a page of another origin. */
  readonly other: Recorded
  /** Where its stores are. */
  readonly folder: string
  /** Asks a model for a word; the status. */
  chat(model: string): Promise<number>
  /** The next chat waits for the function that this gives. */
  holdNext(): () => void
  browse(options?: BrowserContextOptions): Promise<Tab>
}

export interface Tab {
  readonly page: Page
  /** What the browser says against the page: violations of its policy, errors, requests to other origins. */
  readonly faults: readonly string[]
  signIn(key: string): Promise<void>
  /** Goes to a page and waits until it is there. */
  go(hash: string, heading: string): Promise<void>
  /** Findings of axe, as rule and element. */
  axe(rules?: readonly string[]): Promise<readonly string[]>
  /** Keeps a picture where `SEALGATE_SHOTS` names a folder. */
  shot(name: string): Promise<void>
}

const attack = (base: string): string =>
  `<!doctype html><title>elsewhere</title><form method="post" action="${base}/admin/keys" enctype="text/plain"><input name='{"name":"' value='stolen"}'></form>`

const price = { prompt_price_per_k: 0.25, completion_price_per_k: 1.25 }

/** A gateway on a disk with a priced model, one without a price, one that fails, and a hostile one. */
export const consoleStage = async (t: Test): Promise<ConsoleStage> => {
  let base = ''
  const answer = scripted(() => [{ say: 'hello' }])
  let held: Promise<void> | null = null
  const holdNext = (): (() => void) => {
    let go = () => {}
    held = new Promise((resolve) => (go = resolve))
    return go
  }
  const other = await backend(t, async (request) => {
    if (request.path.endsWith('/chat/completions')) {
      const waiting = held
      held = null
      await waiting
      const decided = decidingAnswer(request.body)
      if (decided !== null) return decided
    }
    if (request.path === '/elsewhere') return { headers: { 'content-type': 'text/html' }, body: attack(base) }
    // Browsers look for an icon.
    return request.method === 'GET' && !request.path.endsWith('/models') ? { status: 404, body: '' } : answer(request)
  })
  const failing = await backend(t, () => ({ status: 500, body: '{}' }))
  let reloads = 0
  const config = checkedConfig({ log: { level: 'silent' } }, {})
  const to = (provider: string, model = 'own') => [{ provider, model }]
  const folder = t.testdir()
  const gateway = await running(
    t,
    {
      ...(await production(config, folder)),
      upstreams: [
        use(openai, { baseUrl: `${other.url}/v1` }, 'house'),
        use(openai, { baseUrl: `${failing.url}/v1` }, 'broken'),
      ],
    },
    {
      limits: {
        key: { requestsPerSecond: null },
        organization: { requestsPerSecond: null, costPerDay: 10 },
        budgets: { unknownPrice: 'count' },
      },
      env: 'production',
      organizations: { default: { teams: { blue: { costPerMonth: 5 }, [hostile.model]: { costPerDay: 1 } } } },
      routing: { retries: 0 },
      models: {
        priced: { upstreams: to('house'), regions: ['eu'], price_config: { standard: { eu: price } } },
        unpriced: { upstreams: to('house') },
        away: { decide: true, upstreams: to('broken') },
        small: { decide: true, upstreams: to('house'), regions: ['eu'], price_config: { standard: { eu: price } } },
        large: { decide: true, upstreams: to('house', 'surer') },
        chained: { upstreams: [...to('broken'), { provider: 'house', model: 'own', weight: 3, priority: 2 }] },
        [hostile.model]: { decide: true, upstreams: to('house') },
      },
      decision: { escalate: { below: 0.05, to: 'large' } },
    },
    async () => {
      if (reloads++ === 0) throw new BadRequest('Validation failed', { validator: { 'models.x': 'Expected a model' } })
    },
  )
  base = gateway.base
  const chat = async (model: string) =>
    (await gateway.call('POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] })).status
  const open = browsing(t)
  return { ...gateway, other, folder, chat, holdNext, browse: (options) => open(gateway.base, options) }
}

/** One Chromium, which opens tabs for consoles at any address. */
export const browsing = (t: Test): ((base: string, options?: BrowserContextOptions) => Promise<Tab>) => {
  let browser: Promise<Browser> | null = null
  t.teardown(async () => (await browser)?.close())
  return async (base, options = {}) => {
    browser ??= launchChromium()
    const context = await (await browser).newContext({ viewport: { width: 1440, height: 900 }, ...options })
    return tabOf(await context.newPage(), base)
  }
}

const axeSource = async (): Promise<string> =>
  readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Axe {
  run(options: object): Promise<{ violations: { id: string; nodes: { target: unknown[] }[] }[] }>
}

export const tabOf = async (page: Page, base: string): Promise<Tab> => {
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`))
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${base}/`) && !/^(?:data|blob):/.test(url)) faults.push(`request: ${url}`)
  })
  await page.exposeFunction('violated', (what: string) => faults.push(`policy: ${what}`))
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      (globalThis as unknown as { violated(text: string): void }).violated(`${violatedDirective} ${blockedURI}`),
    )
  })
  // A locator looks by itself: a function in the page would wait for frames, which stand still where a test holds the clock.
  const settled = async (heading: string): Promise<void> => {
    const main = page.locator('main:not([aria-busy])')
    const shown = main.getByRole('heading', { level: 1, name: heading, exact: true })
    await shown.waitFor().catch(async (cause: unknown) => {
      const instead = await page.evaluate("document.querySelector('main')?.outerHTML.slice(0, 500)")
      throw new Error(`No page ${heading}, but ${String(instead)}`, { cause })
    })
  }
  return {
    page,
    faults,
    async signIn(key) {
      await page.goto(`${base}/console`)
      await page.fill('#key', key)
      await page.press('#key', 'Enter')
      await page.waitForSelector('nav')
      await settled('Home')
    },
    async go(hash, heading) {
      await page.evaluate((hash) => void (location.hash = hash), hash)
      await settled(heading)
    },
    async axe(rules) {
      if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(await axeSource())
      const options = rules
        ? { runOnly: { type: 'rule', values: rules } }
        : { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }
      const { violations } = await page.evaluate(
        (options) => (globalThis as unknown as { axe: Axe }).axe.run(options),
        options,
      )
      return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id} ${String(target)}`))
    },
    async shot(name) {
      const folder = process.env['SEALGATE_SHOTS']
      if (folder === undefined) return
      await mkdir(folder, { recursive: true })
      await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
    },
  }
}
