import { pageOf, escapeHtml } from './page.ts'
import type { Settings } from '../../../core/settings.ts'
import type { Served } from '../../../core/ports/surface.ts'
import { dashboardUrl } from './settings.ts'

/** Paths that the surfaces tell under one of their members. */
const pathsOf = (
  { surfaces }: Served,
  { names }: Settings,
  member: 'links' | 'clients',
): Readonly<Record<string, string>> =>
  Object.assign({}, ...[...surfaces.values()].map((surface) => surface[member]?.(names)))

/** Where everything is, by what it is for. */
export const linksOf = (served: Served, settings: Settings): Readonly<Record<string, string>> => {
  const { compat, std } = settings.names
  const has = (name: string) => served.names.includes(name)
  return {
    health: '/health',
    docs: '/docs',
    openapi: '/openapi.json',
    ...pathsOf(served, settings, 'links'),
    ...(has('chat') && { standard: `/${std}` }),
    ...(has('decision') && { decisions: `/${compat}/v1/decision` }),
    ...(has('rvenc') && { confidential: '/rvenc/models' }),
    ...(has('tools') && { tools: '/tools' }),
  }
}

const linked = (prefix: string, path: string, words: string): string =>
  `<li><a href="${prefix || '.'}${path}">${path}</a> ${words}</li>`

const links = ({ names }: Served, { prefix }: Settings): string =>
  [
    linked(prefix, '/docs', 'every route, to read'),
    linked(prefix, '/openapi.json', 'the same for programs, as OpenAPI 3.1'),
    linked(prefix, '/health', 'whether requests should be sent here'),
    ...(names.includes('tools') ? [linked(prefix, '/tools', 'the tools, without a key')] : []),
    ...(names.includes('console') ? [linked(prefix, '/console', 'keys, usage and models, with a key')] : []),
  ].join('')

const clients = (served: Served, settings: Settings): Readonly<Record<string, string>> => ({
  ...pathsOf(served, settings, 'clients'),
  ...(served.names.includes('chat') && { 'Standard chat': `/${settings.names.std}` }),
  ...(served.names.includes('decision') && { 'Typed decisions': `/${settings.names.compat}` }),
})

const connecting = (served: Served, settings: Settings, base: string): string => {
  const rows = Object.entries(clients(served, settings)).map(
    ([client, path]) =>
      `<tr><th scope="row">${escapeHtml(client)}</th><td><code>${escapeHtml(base + path)}</code></td></tr>`,
  )
  return rows.length === 0
    ? ''
    : `<h2>Connect</h2><p>A client needs a key and one of these base URLs.</p>` +
        `<table><thead><tr><th scope="col">Client</th><th scope="col">Base URL</th></tr></thead><tbody>${rows.join('')}</tbody></table>` +
        trying(served, settings, base)
}

const trying = ({ names: served }: Served, { names }: Settings, base: string): string => {
  const family = served.includes('v1') ? names.v1 : served.includes('chat') ? names.std : null
  if (family === null) return ''
  const call = `curl ${base}/${family}/models \\\n` + `  -H "Authorization: Bearer $SEALGATE_KEY"`
  return `<p>This lists the models that a key may use:</p><pre tabindex="0"><code>${escapeHtml(call)}</code></pre>`
}

/** The page for browsers. `origin` is null where it is unknown; `obstacle` says what keeps the gateway from serving. */
export const frontPage = (
  served: Served,
  settings: Settings,
  origin: string | null,
  obstacle: string | null,
): string => {
  const state =
    obstacle === null ? '<p class="good">Ready.</p>' : `<p class="bad">Not ready: ${escapeHtml(obstacle)}.</p>`
  const dashboard = dashboardUrl.of(settings)
  const keys =
    dashboard === undefined
      ? '<code>sealgate keys create</code> makes a key.'
      : `Keys are made at <a href="${escapeHtml(dashboard)}">${escapeHtml(dashboard)}</a>.`
  return pageOf(
    'sealgate',
    `<header><h1>sealgate</h1><p>A confidential AI gateway: OpenAI-compatible chat, typed decisions, and calls that are ` +
      `sealed from your machine to the enclave.</p>${state}</header>` +
      `<main><h2>Read on</h2><ul>${links(served, settings)}</ul>${connecting(served, settings, (origin ?? 'https://this-gateway') + settings.prefix)}<p>${keys}</p></main>`,
  )
}
