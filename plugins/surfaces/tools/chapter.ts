import * as v from 'valibot'
import { enveloped } from '../../../core/http/envelope.ts'
import { schemaOf } from '../shared/json-schema.ts'
import type { Chapter, JsonSchema, Variant, Sentences } from '../../../core/ports/chapter.ts'
import { described } from '../shared/described.ts'
import { exampleEnvelope } from '../shared/example-envelope.ts'
import type { Tool } from '../../../core/ports/tool.ts'
import { parametersOf } from '../shared/tool-schema.ts'
import { variants } from './tools.ts'
import { shared } from '../shared/common-words.ts'

type Kind = Tool['kind']

const words: Sentences = {
  encryptedParams: 'The sealed JSON of the tool’s parameters, as hex.',
  encryptedFileDek: 'The key of the file, sealed to the enclave, as hex.',
  fileNonce: 'The nonce of `encryptedFileDek`, as hex.',
  encryptedRagDek: 'The key of the index, sealed to the enclave, as hex.',
  ragDekNonce: 'The nonce of `encryptedRagDek`, as hex.',
  'schema.kid': 'The id of the key-encryption key under which the result is kept.',
  wrappedDek: 'The key of the result, wrapped under the client’s key-encryption key, as hex.',
  'schema.fileId': 'An id that the client chooses for the result.',
  'answer.data': 'A sealed answer, or the record of the file that was made.',
  'answer.data.fileId': 'The id of the file that was made.',
  'answer.data.fileName': 'The sealed name of the file, as hex.',
  'answer.data.fileSize': 'The stored size in bytes.',
  'answer.data.handle': 'The id once more.',
  'answer.data.mimeType': 'The sealed media type of the file, as hex.',
  'answer.data.s3Path': 'Where the store keeps the file.',
  'answer.data.success': 'True where the file was made.',
  'answer.data.message': 'A sentence about the file.',
  'path.id': 'The name of a tool, as `GET /tools` lists it.',
  'data.name': 'The name of the tool.',
  'data.normalizedName': 'The name in lower case.',
  'data.shortName': 'The name to show to people.',
  'data.description': 'What the tool does.',
  'data.kind': 'What the tool takes beside its parameters.',
  'data.parameters': 'The parameters that are sealed, as JSON schema.',
}

/** For parameters whose tool says nothing of them. */
const parameterWords: Sentences = {
  text: 'The text to speak.',
  prompt: 'What the image shows.',
  fileName: 'The name of the file, without its ending.',
  fileExtension: 'The ending of the file’s name.',
  fileContent: 'The content of the file.',
  mimeType: 'The media type of the file.',
  url: 'The address of the page.',
  query: 'What is sought.',
}

const simple = { cipherText: '8d1f…', encryptedParams: '5be1…', nonce: '07c2…', enclaveKid: '9f0a41c7d2e85b36' }
const ofFile = { ...simple, encryptedFileDek: 'd3a7…', fileNonce: '6a19…' }

const kinds: Readonly<Record<Kind, { readonly name: string; readonly about: string; readonly example: unknown }>> = {
  simple: { name: 'SimpleTool', about: 'A tool that works with its parameters alone.', example: simple },
  'reads-file': { name: 'FileReadingTool', about: 'A tool that reads an uploaded file.', example: ofFile },
  'makes-file': {
    name: 'FileMakingTool',
    about: 'A tool that makes a file and keeps it sealed.',
    example: { ...ofFile, kid: 'kek-1', wrappedDek: 'c9e4…' },
  },
  retrieval: {
    name: 'RetrievalTool',
    about: 'A tool that searches in the index of the caller’s files.',
    example: { ...simple, encryptedRagDek: 'a05c…', ragDekNonce: '2f7b…' },
  },
}

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

const clock = {
  name: 'getTime',
  normalizedName: 'gettime',
  shortName: 'getTime',
  description: 'Current date and time in a time zone.',
  kind: 'simple',
  parameters: { type: 'object', properties: { timezone: { type: 'string' } }, required: ['timezone'] },
}

const parametersName = ({ name }: Tool): string => `${name}Parameters`

const typed = (tool: Tool): JsonSchema => ({
  body: { $ref: `#/components/schemas/${kinds[tool.kind].name}` },
  parameters: { $ref: `#/components/schemas/${parametersName(tool)}` },
})

/** The chapter of the tools that the gateway has. */
export const toolsOf = (tools: readonly Tool[]): Chapter => ({
  name: 'Tools',
  about:
    'A tool runs inside the enclave. Its parameters are sealed; the fields beside them depend on what the tool does. ' +
    '`sealgate/client` fills them in.',
  words,
  operations: {
    'GET /tools': {
      about: 'A program finds the parameters of each tool here.',
      answer: { ...exampleEnvelope, data: [clock] },
    },
    'POST /tools/{id}': {
      about: 'The schemas that end in `Parameters` say what is sealed for each tool.',
      path: { id: 'getTime' },
      ...(tools.length > 0 && { choices: { id: tools.map(({ name }) => name) } }),
      variants: Object.fromEntries(
        (Object.keys(kinds) as Kind[]).map((kind) => [kinds[kind].name, variantOf(kind, tools)]),
      ),
      shape: enveloped(result),
      answer: { ...exampleEnvelope, data: { encryptedResponse: '41ad…', nonce: 'e9b0…' } },
      statuses: [502],
      more: { 'x-tools': Object.fromEntries(tools.map((tool) => [tool.name, typed(tool)])) },
    },
  },
  schemas: Object.fromEntries(
    tools.map((tool) => [
      parametersName(tool),
      {
        description: `What is sealed for \`${tool.name}\`. ${tool.description}`,
        ...described(parametersOf(tool), ['schema'], [parameterWords]),
      },
    ]),
  ),
})
