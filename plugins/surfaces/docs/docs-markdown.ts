import type { JsonSchema, Sentences } from '../../../core/ports/chapter.ts'
import { curlOf } from './curl.ts'
import type { Listed, Media, Parameter, Shown } from './docs-operation.ts'
import { type Section, namedSchemas, sectionsOf } from './docs-page.ts'
import { eachInTurn } from './each-in-turn.ts'
import { type Field, type FieldGroup, fieldFrom, groupsOf } from './docs-schema.ts'
import type { Document } from './openapi.ts'
import { samples } from './openapi-errors.ts'

/** The pages of a gateway for programs that read text. */
export interface MarkdownPages {
  /** An index in the form of `llms.txt`: each page with a line of what it holds. */
  readonly index: string
  /** By their names, without the ending. */
  readonly pages: ReadonlyMap<string, string>
}

const paragraphs = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n\n')

const fenced = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``

const itemsOf = (groups: readonly FieldGroup[], indent = ''): string =>
  groups
    .flatMap(({ label, fields }) => [
      ...(label === '' ? [] : [`${indent}* ${label}:`]),
      ...fields.map((field) => itemOf(field, indent)),
    ])
    .join('\n')

const itemOf = ({ name, facts, isRequired, words, groups }: Field, indent: string): string => {
  const told = [...facts, ...(isRequired ? ['required'] : [])].join(', ')
  const below = itemsOf(groups, `${indent}  `)
  return `${indent}* \`${name}\` (${told})${words === '' ? '' : ` ${words}`}${below === '' ? '' : `\n${below}`}`
}

const parametersOf = (parameters: readonly Parameter[], place: string, title: string): string => {
  const fields = parameters
    .filter((parameter) => parameter.in === place)
    .map(({ name, schema, required, description }) => fieldFrom(name, schema, required, description))
  return fields.length === 0 ? '' : `### ${title}\n\n${itemsOf([{ label: '', fields }])}`
}

const mediaOf = ([type, { schema = {}, example }]: readonly [string, Media]): string => {
  const words =
    schema['properties'] === undefined && typeof schema['description'] === 'string' ? `: ${schema['description']}` : ''
  const shown = example === undefined ? '' : fenced('json', JSON.stringify(example, null, 2))
  return paragraphs(`\`${type}\`${words}`, itemsOf(groupsOf(schema)), shown)
}

const variantOf = ([name, schema]: readonly [string, JsonSchema]): string =>
  paragraphs(`#### ${name}`, String(schema['description'] ?? ''), itemsOf(groupsOf(schema)))

const titled = (title: string, parts: readonly string[]): string =>
  parts.length === 0 ? '' : paragraphs(`### ${title}`, ...parts)

const operationOf = (listed: Listed, document: Document): string => {
  const { method, path, operation } = listed
  const { summary, description, parameters = [], requestBody, responses } = operation as unknown as Shown
  const success = Object.entries(responses).filter(([status]) => Number(status) < 400)
  const failures = Object.keys(responses).filter((status) => Number(status) >= 400)
  const body = Object.entries(requestBody?.content ?? {}).map(mediaOf)
  return paragraphs(
    `## ${method} ${path}`,
    summary,
    description,
    fenced('sh', curlOf(method, path, operation)),
    parametersOf(parameters, 'path', 'In the path'),
    parametersOf(parameters, 'query', 'In the query'),
    parametersOf(parameters, 'header', 'In the head'),
    titled('Body', [...body, ...namedSchemas(listed, document).map(variantOf)]),
    titled(
      'Answer',
      success.flatMap(([, { content = {} }]) => Object.entries(content).map(mediaOf)),
    ),
    failures.length === 0 ? '' : `Errors: ${failures.join(', ')}.`,
  )
}

const chapterOf = async ({ name, about, operations }: Section, document: Document): Promise<string> =>
  `${paragraphs(`# ${name}`, about, ...(await eachInTurn(operations, (listed) => operationOf(listed, document))))}\n`

const errorsOf = (codes: Sentences): string => {
  const statuses = Object.entries(samples).map(([status, { about }]) => `* ${status}: ${about}`)
  const words = Object.entries(codes).map(([code, about]) => `* \`${code}\`: ${about}`)
  return `${paragraphs('# Errors', '## Statuses', statuses.join('\n'), '## Codes', words.join('\n'))}\n`
}

const indexOf = ({ info }: Document, sections: readonly Section[], prefix: string): string =>
  `${paragraphs(
    `# ${info.title}`,
    `> ${info.description}`,
    '## Chapters',
    [
      ...sections.map(({ id, name, about }) => `* [${name}](${prefix}/docs/${id}.md): ${about}`),
      `* [Errors](${prefix}/docs/errors.md): Each status and each code of an error.`,
    ].join('\n'),
    '## Optional',
    `* [OpenAPI](${prefix}/openapi.json): The same interface for generators.`,
  )}\n`

/** The interface as pages of Markdown, one for each chapter, made from its OpenAPI document. */
export const markdownPages = async (document: Document, codes: Sentences, prefix: string): Promise<MarkdownPages> => {
  const sections = sectionsOf(document).filter(({ operations }) => operations.length > 0)
  const chapters = sections.map(async (section) => [section.id, await chapterOf(section, document)] as const)
  const pages = new Map([...(await Promise.all(chapters)), ['errors', errorsOf(codes)]])
  return { index: indexOf(document, sections, prefix), pages }
}
