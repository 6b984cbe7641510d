import { Tool } from '../ports/tool.ts'
import type { Settings } from '../settings.ts'
import { lazy } from '../lazy.ts'
import type { Reference } from './reference.ts'
import { text } from './reply.ts'
import { type AnyRoute, route } from './route.ts'

const heads = lazy(() => import('./page.ts'))

interface Documents {
  readonly description: Uint8Array
  readonly page: Uint8Array
}

/**
 * The interface described by itself: `/openapi.json` for programs and `/docs` for people, without any script. Both are made with the first request, once for each set of tools, and all answers share their bytes.
 */
export const describeInterface = (
  routes: readonly AnyRoute[],
  settings: Settings,
  referenceOf: (tools: readonly Tool[]) => Promise<Reference>,
): readonly AnyRoute[] => {
  const made = new WeakMap<readonly Tool[], Promise<Documents>>()
  const make = async (tools: readonly Tool[]): Promise<Documents> => {
    const [reference, { openapi }, { docsPage }] = await Promise.all([
      referenceOf(tools),
      import('./openapi.ts'),
      import('./docs-page.ts'),
    ])
    const document = openapi([...routes, ...own], settings, reference)
    return {
      description: Buffer.from(JSON.stringify(document)),
      page: Buffer.from(docsPage(document, reference.codes, settings.prefix)),
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
        return text((await of(tools)).page, 'text/html; charset=utf-8', 200, pageHeaders)
      },
    }),
  ]
  return own
}
