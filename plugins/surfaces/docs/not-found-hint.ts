import { namedPath, type AnyRoute } from '../../../core/http/route.ts'
import type { Settings } from '../../../core/settings.ts'

/** Paths of other servers that clients try here, and what they look for. */
const elsewhere: Readonly<Record<string, string>> = {
  '/api/chat': 'chat/completions',
  '/api/generate': 'chat/completions',
  '/api/tags': 'models',
  '/api/embed': 'embeddings',
  '/api/embeddings': 'embeddings',
  '/completions': 'chat/completions',
  '/v1/completions': 'chat/completions',
  '/v1/chat': 'chat/completions',
}

const pages: Readonly<Record<string, string>> = {
  '/swagger': '/docs',
  '/redoc': '/docs',
  '/api-docs': '/docs',
  '/swagger.json': '/openapi.json',
  '/healthz': '/health',
  '/livez': '/health/live',
  '/readyz': '/health/ready',
}

/** How paths begin at the addresses of vendors and routers, behind which the same paths follow. */
const beginnings = /^\/(?:(?:openai|anthropic|api)\/v1\/|openai\/deployments\/[^/]+\/|anthropic\/|v1\/)?/

/** The first of these paths that some route has. */
type Find = (...paths: readonly string[]) => string | null

const slipOf = (path: string, { names: { compat, std, v1 }, prefix }: Settings, find: Find): string | null => {
  if (path.startsWith(`/${compat}/v1/v1/`)) return `the base URL ends in ${prefix}/${compat}, without /v1`
  if (path.startsWith(`/${std}/v1/`)) return `the base URL ends in ${prefix}/${std}, without /v1`
  if (path.startsWith(`/${v1}/v1/`)) return `the base URL has /${v1} twice`
  if (path.endsWith('/') && find(path.slice(0, -1)) !== null) return 'the path ends without a slash'
  return null
}

const placeOf = (path: string, { std, v1 }: Settings['names'], find: Find): string | null => {
  const wanted = Object.hasOwn(elsewhere, path) ? elsewhere[path]! : path.replace(beginnings, '')
  const page = Object.hasOwn(pages, path) ? pages[path]! : null
  return page ?? find(`/${v1}/${wanted}`, `/${std}/${wanted}`)
}

const rootOf = (path: string, { names: { compat, std, v1 }, prefix }: Settings): string | null =>
  [`/${compat}`, `/${std}`, `/${v1}`, '/v1', '/api'].includes(path.replace(/\/$/, ''))
    ? `this is the beginning of paths; ${prefix}/docs lists them`
    : null

/** What to say of a path that no route has: where the usual slips were meant to go. The path has lost the prefix, and the hint names it. */
export const notFoundHint = (routes: readonly AnyRoute[], settings: Settings) => {
  const known = new Set([...routes.map(({ path }) => namedPath(path, settings)), '/docs', '/openapi.json'])
  const find: Find = (...paths) => paths.find((path) => known.has(path)) ?? null
  return (path: string): string => {
    const slip = slipOf(path, settings, find)
    if (slip !== null) return `Not found: ${slip}`
    const place = placeOf(path, settings.names, find)
    if (place !== null) return `Not found: it is ${settings.prefix}${place}`
    const root = rootOf(path, settings)
    return root === null ? 'Not found' : `Not found: ${root}`
  }
}
