import { type Listed, anchorOf, example, sectionOf } from './docs-operation.ts'
import { fieldsOf } from './docs-schema.ts'
import { style } from './docs-style.ts'
import type { Document } from './openapi.ts'
import { samples } from './openapi-errors.ts'
import { pageOf, prose, escapeHtml } from './page.ts'
import type { JsonSchema, Sentences } from '../../../core/ports/chapter.ts'
import { eachInTurn } from './each-in-turn.ts'

/** A chapter with its operations. */
export interface Section {
  readonly id: string
  readonly name: string
  readonly about: string
  readonly operations: readonly Listed[]
}

const slug = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]+/g, '-')

/** The chapters of a description, each with its operations. */
export const sectionsOf = ({ tags, paths }: Document): readonly Section[] => {
  const all = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  return tags.map(({ name, description }) => ({
    id: slug(name),
    name,
    about: description,
    operations: all.filter(({ operation }) => (operation['tags'] as readonly string[])[0] === name),
  }))
}

/** A long path breaks in front of its parts. */
const broken = (path: string): string => escapeHtml(path).replace(/(?<!^)[/:]/g, '<wbr>$&')

const linkOf = ({ method, path }: Listed): string =>
  `<li><a href="#${anchorOf(method, path)}"><b class="${method.toLowerCase()}">${method}</b> ${broken(path)}</a></li>`

const indexOf = (sections: readonly Section[]): string => {
  const entries = sections.map(
    ({ id, name, operations }) =>
      `<li><a href="#${id}">${escapeHtml(name)}</a><ul>${operations.map(linkOf).join('')}</ul></li>`,
  )
  return `<nav aria-label="Contents"><ul>${entries.join('')}<li><a href="#errors">Errors</a></li></ul></nav>`
}

/** The schemas that the bodies of an operation and its tools name. */
export const namedSchemas = ({ operation }: Listed, { components }: Document): readonly [string, JsonSchema][] => {
  const named = JSON.stringify([operation['requestBody'], operation['x-tools']])
  const names = new Set([...named.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name = '']) => name))
  return [...names].map((name) => [name, components['schemas']?.[name] ?? {}])
}

const variantsOf = (listed: Listed, document: Document): string =>
  namedSchemas(listed, document)
    .map(
      ([name, schema]) =>
        `<h5>${escapeHtml(name)}</h5><p>${prose(String(schema['description'] ?? ''))}</p>${fieldsOf(schema)}`,
    )
    .join('')

const chapterOf = async ({ id, name, about, operations }: Section, document: Document): Promise<string> =>
  `<section id="${id}"><h2>${escapeHtml(name)}</h2><p>${prose(about)}</p><ul class="within">${operations.map(linkOf).join('')}</ul>` +
  (await eachInTurn(operations, (listed) => sectionOf(listed, variantsOf(listed, document)))).join('') +
  '</section>'

const errorsOf = ({ components }: Document, codes: Sentences): string => {
  const statuses = Object.entries(samples).map(
    ([status, { about }]) => `<dt id="status-${status}">${status}</dt><dd>${prose(about)}</dd>`,
  )
  const words = Object.entries(codes).map(
    ([code, about]) => `<dt><code>${escapeHtml(code)}</code></dt><dd>${prose(about)}</dd>`,
  )
  const shown = components['responses']?.['Error400'] as
    { readonly content?: Readonly<Record<string, { readonly example?: unknown }>> } | undefined
  const body = shown?.content?.['application/json']?.example
  return (
    `<section id="errors"><h2>Errors</h2><p>The status tells the kind of an error. Most routes answer in the envelope:</p>` +
    (body === undefined ? '' : example(body)) +
    `${fieldsOf(components['schemas']?.['Error'] ?? {})}<h3>Statuses</h3><dl class="words">${statuses.join('')}</dl>` +
    `<h3>Codes</h3><p>${prose('A code tells errors of one status apart: `log.code` in the envelope, `code` in the public dialects.')}</p>` +
    `<dl class="words">${words.join('')}</dl></section>`
  )
}

const opening = ({ info }: Document, prefix: string): string =>
  `<header><h1>${escapeHtml(info.title)}</h1><p>${prose(info.description)}</p>` +
  `<p>Programs read the same as <a href="${escapeHtml(prefix)}/openapi.json">openapi.json</a>. The calls below need two variables:</p>` +
  `<pre><code>export SEALGATE_URL=http://127.0.0.1:8787${escapeHtml(prefix)}\nexport SEALGATE_KEY=sk_live_…</code></pre></header>`

/** The interface as a page to read, made from its OpenAPI document. */
export const docsPage = async (document: Document, codes: Sentences, prefix: string): Promise<string> => {
  const sections = sectionsOf(document)
  const chapters = await Promise.all(sections.map((section) => chapterOf(section, document)))
  return pageOf(
    'sealgate: the interface',
    `<div class="pages">${indexOf(sections)}<main>${opening(document, prefix)}` +
      `${chapters.join('')}${errorsOf(document, codes)}</main></div>`,
    style,
  )
}
