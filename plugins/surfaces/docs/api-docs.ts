import { NotFound } from '../../../core/errors.ts'
import { Tool } from '../../../core/ports/tool.ts'
import type { Settings } from '../../../core/settings.ts'
import { lazy } from '../../../core/plugin.ts'
import type { Reference } from '../../../core/ports/chapter.ts'
import { text } from '../../../core/http/reply.ts'
import { type AnyRoute, route } from '../../../core/http/route.ts'
import type { MarkdownPages } from './docs-markdown.ts'

const heads = lazy(() => import('./page.ts'))

interface Documents {
  readonly description: Uint8Array
  page(): Promise<Uint8Array>
  markdown(): Promise<MarkdownPages>
}

/**
 * The interface described by itself, without any script: `/openapi.json` for programs, `/docs` for people, `/llms.txt`
 * and a page of Markdown for each chapter. Each is made with its first request, once for each set of tools.
 */
export const describeInterface = (
  routes: readonly AnyRoute[],
  settings: Settings,
  referenceOf: (tools: readonly Tool[]) => Promise<Reference>,
): readonly AnyRoute[] => {
  const made = new WeakMap<readonly Tool[], Promise<Documents>>()
  const make = async (tools: readonly Tool[]): Promise<Documents> => {
    const [reference, { openapi }] = await Promise.all([referenceOf(tools), import('./openapi.ts')])
    const document = await openapi([...routes, ...own], settings, reference)
    const given = [document, reference.codes, settings.prefix] as const
    return {
      description: Buffer.from(JSON.stringify(document)),
      page: lazy(async () => Buffer.from(await (await import('./docs-page.ts')).docsPage(...given))),
      markdown: lazy(async () => (await import('./docs-markdown.ts')).markdownPages(...given)),
    }
  }
  const of = (tools: readonly Tool[]): Promise<Documents> => {
    const known = made.get(tools) ?? make(tools)
    made.set(tools, known)
    return known
  }
  const own: readonly AnyRoute[] = [
    route({
      method: 'GET',
      path: '/openapi.json',
      summary: 'This interface as OpenAPI 3.1.',
      access: 'anyone',
      needs: { tools: Tool },
      handle: async (_, { tools }) => text((await of(tools)).description),
    }),
    route({
      method: 'GET',
      path: '/docs',
      summary: 'This interface as a page to read.',
      access: 'anyone',
      needs: { tools: Tool },
      async handle(_, { tools }) {
        const { pageHeaders } = await heads()
        return text(await (await of(tools)).page(), 'text/html; charset=utf-8', 200, pageHeaders)
      },
    }),
    ...markdownRoutes(of),
  ]
  return own
}

/** The routes of the pages for programs that read text. */
const markdownRoutes = (of: (tools: readonly Tool[]) => Promise<Documents>): readonly AnyRoute[] => [
  route({
    method: 'GET',
    path: '/docs/{page}',
    summary: 'A chapter of this interface as Markdown.',
    access: 'anyone',
    needs: { tools: Tool },
    async handle({ params }, { tools }) {
      const { pages } = await (await of(tools)).markdown()
      const page = params.page.endsWith('.md') ? pages.get(params.page.slice(0, -3)) : undefined
      if (page === undefined) throw new NotFound('The documentation has no such page; /llms.txt names its pages')
      return text(page, 'text/markdown; charset=utf-8')
    },
  }),
  route({
    method: 'GET',
    path: '/llms.txt',
    summary: 'The pages of this interface for programs that read text.',
    access: 'anyone',
    needs: { tools: Tool },
    handle: async (_, { tools }) => text((await (await of(tools)).markdown()).index, 'text/markdown; charset=utf-8'),
  }),
]
