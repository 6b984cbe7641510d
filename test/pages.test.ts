import { mkdir } from 'node:fs/promises'
import axe, { type AxeResults } from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import t from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { running, unhurried } from './environments.ts'
import { launchChromium, withoutChromium } from './fakes/chromium.ts'
import { isWhole } from './whole.ts'

/** A folder for pictures of the pages; none are taken without it. */
const shots = process.env['SHOTS']

/** By day, the rules of axe that another scheme or width can break; the night looks by all of them each time. */
const rulesOf = (colorScheme: string, width: number): readonly string[] | null => {
  if (isWhole || (colorScheme === 'light' && width > 1000)) return null
  return width > 1000 ? ['color-contrast'] : ['target-size', 'meta-viewport', 'scrollable-region-focusable']
}

const looks = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [390, 1440].map((width) => ({
    ...{ colorScheme, width, rules: rulesOf(colorScheme, width) },
    name: `at ${width} px, ${colorScheme}`,
  })),
)

/** Pixels by which the page is wider than its window. */
const excess = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

const unfold = (page: Page): Promise<void> =>
  page.evaluate(() => document.querySelectorAll('details').forEach((element) => (element.open = true)))

/** What axe finds by these rules, or by all of them, with the first place of each finding. */
const findings = async (page: Page, rules: readonly string[] | null): Promise<readonly string[]> => {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate(
    (rules) => {
      const { axe } = globalThis as unknown as { axe: { run(node: Document, how: object): Promise<AxeResults> } }
      const runOnly = rules === null ? {} : { runOnly: { type: 'rule', values: rules } }
      return axe.run(document, { resultTypes: ['violations'], ...runOnly })
    },
    rules as string[] | null,
  )
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`)
}

/** A tab of this look, and the addresses that it asks beside these. */
const tabOf = async (browser: Browser, origins: readonly string[], { colorScheme, width }: (typeof looks)[number]) => {
  const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } })
  const page = await context.newPage()
  const foreign: string[] = []
  page.on('request', (request) => {
    if (!origins.includes(new URL(request.url()).origin)) foreign.push(request.url())
  })
  return { page, foreign, close: () => context.close() }
}

t.test('pages in a browser', { skip: withoutChromium, timeout: 150_000 }, async (t) => {
  const whole = await running(t, memory(), unhurried)
  // Every kind of section stands in these chapters, and axe takes seconds for more.
  const { tools = [], ...rest } = memory()
  const few = await running(t, { ...rest, tools: tools.slice(0, 1) }, { ...unhurried, surfaces: ['decision', 'tools'] })
  const browser = await launchChromium()
  t.teardown(() => browser.close())
  if (shots !== undefined) await mkdir(shots, { recursive: true })

  for (const look of looks) {
    const { page, foreign, close } = await tabOf(browser, [whole.base, few.base], look)
    for (const url of [`${whole.base}/`, `${few.base}/docs`]) {
      const name = `${new URL(url).pathname} ${look.name}`
      await page.goto(url)
      if (shots !== undefined && url.endsWith('/'))
        await page.screenshot({ path: `${shots}/front-${look.width}-${look.colorScheme}.png` })
      await unfold(page)
      t.same(await findings(page, look.rules), [], `axe finds nothing on ${name}`)
      t.equal(await page.evaluate(() => document.scripts.length), 0, `${name} has no script`)
      t.equal(await excess(page), 0, `${name} does not scroll sideways`)
    }
    if (look.colorScheme === 'light' || shots !== undefined) {
      await page.goto(`${whole.base}/docs`)
      if (shots !== undefined) await page.screenshot({ path: `${shots}/docs-${look.width}-${look.colorScheme}.png` })
      t.equal(await excess(page), 0, `no route is too wide ${look.name}`)
      await unfold(page)
      t.equal(await excess(page), 0, `no field is too wide ${look.name}`)
    }
    t.same(foreign, [], `no page asks another origin ${look.name}`)
    await close()
  }
})
