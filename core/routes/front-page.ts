import { pageOf, escapeHtml } from '../http/page.ts'
import type { Settings } from '../settings.ts'

/** Where everything is, by what it is for. */
export const linksOf = ({ surfaces, names: { compat, std, v1 } }: Settings): Readonly<Record<string, string>> => ({
  health: '/health',
  docs: '/docs',
  openapi: '/openapi.json',
  ...(surfaces.includes('v1') && { openai: `/${v1}`, anthropic: '/', gemini: '/v1beta' }),
  ...(surfaces.includes('chat') && { standard: `/${std}` }),
  ...(surfaces.includes('decision') && { decisions: `/${compat}/v1/decision` }),
  ...(surfaces.includes('rvenc') && { confidential: '/rvenc/models' }),
  ...(surfaces.includes('tools') && { tools: '/tools' }),
  ...(surfaces.includes('console') && { console: '/console' }),
  ...(surfaces.includes('mcp') && { agents: '/mcp' }),
})

const linked = (prefix: string, path: string, words: string): string =>
  `<li><a href="${prefix || '.'}${path}">${path}</a> ${words}</li>`

const links = ({ surfaces, prefix }: Settings): string =>
  [
    linked(prefix, '/docs', 'every route, to read'),
    linked(prefix, '/openapi.json', 'the same for programs, as OpenAPI 3.1'),
    linked(prefix, '/health', 'whether requests should be sent here'),
    ...(surfaces.includes('tools') ? [linked(prefix, '/tools', 'the tools, without a key')] : []),
    ...(surfaces.includes('console') ? [linked(prefix, '/console', 'keys, usage and models, with a key')] : []),
  ].join('')

const clients = ({ surfaces, names: { compat, std, v1 } }: Settings, base: string): readonly (readonly string[])[] => [
  ...(surfaces.includes('v1')
    ? [
        ['OpenAI', `${base}/${v1}`],
        ['Anthropic', base],
        ['Gemini', base],
      ]
    : []),
  ...(surfaces.includes('chat') ? [['Standard chat', `${base}/${std}`]] : []),
  ...(surfaces.includes('decision') ? [['Typed decisions', `${base}/${compat}`]] : []),
]

const connecting = (settings: Settings, base: string): string => {
  const rows = clients(settings, base).map(
    ([client, url]) => `<tr><th scope="row">${client}</th><td><code>${escapeHtml(url!)}</code></td></tr>`,
  )
  return rows.length === 0
    ? ''
    : `<h2>Connect</h2><p>A client needs a key and one of these base URLs.</p>` +
        `<table><thead><tr><th scope="col">Client</th><th scope="col">Base URL</th></tr></thead><tbody>${rows.join('')}</tbody></table>` +
        trying(settings, base)
}

const trying = ({ surfaces, names }: Settings, base: string): string => {
  const family = surfaces.includes('v1') ? names.v1 : surfaces.includes('chat') ? names.std : null
  if (family === null) return ''
  const call = `curl ${base}/${family}/models \\\n` + `  -H "Authorization: Bearer $SEALGATE_KEY"`
  return `<p>This lists the models that a key may use:</p><pre tabindex="0"><code>${escapeHtml(call)}</code></pre>`
}

/** The page for browsers. `origin` is null where it is unknown; `obstacle` says what keeps the gateway from serving. */
export const frontPage = (settings: Settings, origin: string | null, obstacle: string | null): string => {
  const state =
    obstacle === null ? '<p class="good">Ready.</p>' : `<p class="bad">Not ready: ${escapeHtml(obstacle)}.</p>`
  const keys =
    settings.dashboardUrl === undefined
      ? '<code>sealgate keys create</code> makes a key.'
      : `Keys are made at <a href="${escapeHtml(settings.dashboardUrl)}">${escapeHtml(settings.dashboardUrl)}</a>.`
  return pageOf(
    'sealgate',
    `<header><h1>sealgate</h1><p>A confidential AI gateway: OpenAI-compatible chat, typed decisions, and calls that are ` +
      `sealed from your machine to the enclave.</p>${state}</header>` +
      `<main><h2>Read on</h2><ul>${links(settings)}</ul>${connecting(settings, (origin ?? 'https://this-gateway') + settings.prefix)}<p>${keys}</p></main>`,
  )
}
