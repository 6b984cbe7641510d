import * as v from 'valibot'
import { Unavailable } from '../../core/errors.ts'
import { lazy, plugin } from '../../core/plugin.ts'
import { Fetch } from '../../core/ports/platform.ts'
import { Tool } from '../../core/ports/tool.ts'
import type { Renderer } from './webPageScraperTool/render.ts'

const reading = lazy(() => import('./webPageScraperTool/page.ts'))
const browsing = lazy(() => import('./webPageScraperTool/render.ts'))

const params = v.object({
  url: v.pipe(v.string(), v.maxLength(2048)),
  renderJs: v.optional(v.pipe(v.boolean(), v.description('Whether the scripts of the page run first, in a browser'))),
})

export default plugin({
  port: Tool,
  name: 'webPageScraperTool',
  settings: v.strictObject({
    /** The browser for `renderJs`; the first of the usual places when absent. Also needs `playwright-core`. */
    chromium: v.optional(v.pipe(v.string(), v.minLength(1))),
    /** Lets root start browsers: without a sandbox, or as another user on Linux with `setpriv`. */
    allowRoot: v.optional(v.boolean(), false),
  }),
  needs: { fetch: Fetch },
  create: ({ fetch }, { chromium, allowRoot }): Tool<typeof params> & { dispose(): Promise<void> } => {
    // Made with the first page that needs a browser, and ended with the tool.
    let renderer: Renderer | null = null
    let over = false
    const rendererOf = async (): Promise<Renderer> => {
      const { makeRenderer } = await browsing()
      if (over) throw new Unavailable()
      return (renderer ??= makeRenderer({ chromium, allowRoot, tool: 'webPageScraperTool' }))
    }
    return {
      name: 'webPageScraperTool',
      shortName: 'Web page',
      description: 'Main text, title and links of a web page; with renderJs, after its scripts ran in a browser.',
      kind: 'simple',
      clear: true,
      params,
      async run({ url, renderJs = false }, signal) {
        signal.throwIfAborted()
        const { loadPage, readPage } = await reading()
        const loaded = await loadPage(fetch.outside, url, signal)
        const rendered = renderJs && loaded.html
        const page = rendered ? await (await rendererOf()).render(loaded, fetch.outside, signal) : loaded
        return { url: page.url, ...(await readPage(page, signal)), rendered }
      },
      async dispose() {
        over = true
        await renderer?.dispose()
      },
    }
  },
})
