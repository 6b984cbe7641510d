import * as v from 'valibot'
import { enveloped } from '../../../core/http/reply.ts'
import type { Chapter, JsonSchema, Variant } from '../../../core/ports/chapter.ts'
import type { Tool } from '../../../core/ports/tool.ts'
import { shared } from '../shared/common-words.ts'
import { described } from '../shared/described.ts'
import { schemaOf } from '../shared/json-schema.ts'
import { parametersOf } from '../shared/tool-schema.ts'
import { chapterOf } from '../shared/written-chapter.ts'
import written from './chapter.json' with { type: 'json' }
import { variants } from './tools.ts'

type Kind = Tool['kind']

/** What is said of each kind; `parameterWords` are for parameters whose tool says nothing of them. */
const { words, parameterWords, kinds } = written

const variantOf = (kind: Kind, tools: readonly Tool[]): Variant => {
  const names = tools.filter((tool) => tool.kind === kind).map(({ name }) => `\`${name}\``)
  return {
    about: `${kinds[kind].about} ${names.length === 0 ? 'This gateway has none.' : `Tools: ${names.join(', ')}.`}`,
    schema: described(schemaOf(variants[kind]), ['schema'], [words, shared]),
    example: kinds[kind].example,
  }
}

const result = v.union([
  v.object({ encryptedResponse: v.string(), nonce: v.string() }),
  v.looseObject({
    fileId: v.string(),
    fileName: v.string(),
    fileSize: v.number(),
    handle: v.string(),
    mimeType: v.string(),
    s3Path: v.string(),
    success: v.boolean(),
    message: v.string(),
  }),
])

const parametersName = ({ name }: Tool): string => `${name}Parameters`

const typed = (tool: Tool): JsonSchema => ({
  body: { $ref: `#/components/schemas/${kinds[tool.kind].name}` },
  parameters: { $ref: `#/components/schemas/${parametersName(tool)}` },
})

const schemaEntry = (tool: Tool): readonly [string, JsonSchema] => [
  parametersName(tool),
  {
    description: `What is sealed for \`${tool.name}\`. ${tool.description}`,
    ...described(parametersOf(tool), ['schema'], [parameterWords]),
  },
]

/** The chapter of the tools that the gateway has. */
export const toolsOf = (tools: readonly Tool[]): Chapter => ({
  ...chapterOf(written, {
    'POST /tools/{id}': {
      ...(tools.length > 0 && { choices: { id: tools.map(({ name }) => name) } }),
      variants: Object.fromEntries(
        (Object.keys(kinds) as Kind[]).map((kind) => [kinds[kind].name, variantOf(kind, tools)]),
      ),
      shape: enveloped(result),
      more: { 'x-tools': Object.fromEntries(tools.map((tool) => [tool.name, typed(tool)])) },
    },
  }),
  schemas: Object.fromEntries(tools.map(schemaEntry)),
})
