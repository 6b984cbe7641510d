import type { Settings } from '../settings.ts'
import { named, openapi } from './openapi.ts'
import { text } from './reply.ts'
import { type AnyRoute, keyless, route } from './route.ts'

/** The interface described by itself: `/openapi.json` for programs and `/docs` for people, without any script. */
export const documents = (routes: readonly AnyRoute[], settings: Settings): readonly AnyRoute[] => {
  const description = Buffer.from(JSON.stringify(openapi(routes, settings), null, 2))
  const page = Buffer.from(pageOf(routes, settings))
  return [
    route({
      method: 'GET',
      path: '/openapi.json',
      summary: 'This interface as OpenAPI 3.1.',
      access: 'anyone',
      needs: {},
      handle: () => text(description),
    }),
    route({
      method: 'GET',
      path: '/docs',
      summary: 'This interface as a page to read.',
      access: 'anyone',
      needs: {},
      handle: () =>
        text(page, 'text/html; charset=utf-8', 200, {
          'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
        }),
    }),
  ]
}

const pageOf = (routes: readonly AnyRoute[], settings: Settings): string => {
  const { paths } = openapi(routes, settings)
  const chapters = routes.map((route) => {
    const operation = paths[named(route.path, settings)]?.[route.method.toLowerCase()] ?? {}
    const details = [
      ['Parameters', operation['parameters']],
      ['Body', operation['requestBody']],
      ['Answer', route.answer && operation['responses']],
    ] as const
    const parts = details
      .filter(([, it]) => it)
      .map(
        ([title, it]) =>
          `<details><summary>${title}</summary><pre>${safe(JSON.stringify(it, null, 2))}</pre></details>`,
      )
    return `<section><h2><b>${route.method}</b> ${safe(named(route.path, settings))}</h2><p>${safe(route.summary)} <i>${accessOf(route)}</i></p>${parts.join('')}</section>`
  })
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>sealgate</title><style>${style}</style><h1>sealgate</h1><p>The same as <a href="/openapi.json">openapi.json</a>, to read.</p>${chapters.join('')}</html>`
}

const accessOf = ({ access }: AnyRoute): string =>
  keyless(access)
    ? 'No key needed.'
    : access === 'any-key'
      ? 'Any key.'
      : `Scope <code>${access.scope}</code>${access.operators ? ', for operators' : ''}.`

const safe = (text: string): string => text.replace(/[&<>"]/g, (it) => `&#${it.charCodeAt(0)};`)

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}h2{font:600 1rem ui-monospace,monospace;margin:2rem 0 .2rem;border-top:1px solid #d8dee4;padding-top:1rem}h2 b{color:#0550ae}p{margin:.2rem 0}i{color:#59636e}pre{background:#f6f8fa;padding:.8rem;overflow:auto;font-size:.8rem}'
