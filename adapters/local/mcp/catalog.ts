import { toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { decideTool } from '../../../plugins/shared/dialects/mcp/decide-tool.ts'

/** Groups of tools, by where their input comes from and where their result goes. */
export type Kind = 'asks' | 'decides' | 'reads' | 'makes' | 'searches' | 'keeps'

/** A tool as an agent sees it. */
export interface Entry {
  readonly name: string
  readonly kind: Kind
  readonly about: string
  readonly params: v.GenericSchema<unknown, Readonly<Record<string, unknown>>>
  readonly hints: Readonly<Record<'readOnlyHint' | 'destructiveHint' | 'idempotentHint' | 'openWorldHint', boolean>>
}

const text = (about: string) => v.pipe(v.string(), v.description(about))
const file = text('A path, or the id of a stored file')
const span = (unit: string) => ({
  from: v.optional(v.pipe(v.number(), v.description(`First ${unit}`))),
  to: v.optional(v.pipe(v.number(), v.description(`Last ${unit}`))),
})
const language = v.optional(text('Spoken language, such as en'))

/** Hints of MCP: `openWorldHint` is true where a tool asks the web. */
const reads = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
const looks = { ...reads, openWorldHint: true }
const adds = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false }
const removes = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false }

type Row = readonly [name: string, kind: Kind, about: string, params: v.ObjectEntries, hints: Entry['hints']]

/**
 * The texts are the program's own: a gateway's description of a tool never reaches the agent. The order never changes.
 */
const rows: readonly Row[] = [
  ['getTime', 'asks', 'Date and time in a time zone.', { timezone: text('Such as Europe/Berlin, or +05:30') }, looks],
  [
    'webSearchTool',
    'asks',
    'Searches the web.',
    {
      query: text('What is sought'),
      country: v.optional(text('Two letters')),
      searchLang: v.optional(text('Such as en')),
    },
    looks,
  ],
  [
    'webPageScraperTool',
    'asks',
    'Text and links of a web page.',
    {
      url: text('An http or https address'),
      renderJs: v.optional(v.pipe(v.boolean(), v.description('Run its scripts'))),
    },
    looks,
  ],
  ['getPDFContent', 'reads', 'Text of a PDF.', { file, ...span('page') }, reads],
  [
    'getTextDocumentContent',
    'reads',
    'Text of a document: Word, RTF, OpenDocument, EPUB, HTML, plain.',
    { file, ...span('section of the outline') },
    reads,
  ],
  [
    'getSpreadsheetContent',
    'reads',
    'Cells of a spreadsheet.',
    {
      file,
      sheet: v.optional(text('Name or number of one; all when absent')),
      range: v.optional(text('Such as B2:F40, 200:399, 200: or A:D')),
    },
    reads,
  ],
  [
    'getPowerPointContent',
    'reads',
    'Text of slides.',
    {
      file,
      slideNumbers: v.optional(v.pipe(v.array(v.number()), v.description('From 1; all when absent'))),
      ...span('slide'),
    },
    reads,
  ],
  ['getDataFileContent', 'reads', 'Content of JSON, CSV, XML, YAML, TOML or Parquet.', { file }, reads],
  [
    'getFileContentOCR',
    'reads',
    'Text in an image or a scan.',
    { file, languages: v.optional(v.pipe(v.array(v.string()), v.description('Such as deu; English when absent'))) },
    reads,
  ],
  ['imageDescribeAndCaption', 'reads', 'Describes an image.', { file }, reads],
  ['imageDescribeAndCaptionFallback', 'reads', 'Describes an image without a large model.', { file }, reads],
  ['videoDescribeAndCaption', 'reads', 'Describes a video.', { file }, reads],
  ['transcribeAudioToText', 'reads', 'Writes down speech.', { file, language }, reads],
  ['transcribeAudioWithDiarization', 'reads', 'Writes down speech, speaker by speaker.', { file, language }, reads],
  ['audioDiarization', 'reads', 'Who speaks when.', { file }, reads],
  ['generateImage', 'makes', 'Draws an image into a local file.', { prompt: text('What it shows') }, adds],
  ['audioGenerateFromText', 'makes', 'Speaks a text into a local file.', { text: text('What is said') }, adds],
  [
    'createFileForUser',
    'makes',
    'Writes a document into a local file.',
    {
      fileName: text('Without extension'),
      fileExtension: text('Such as md or docx'),
      fileContent: text('The whole text'),
      mimeType: text('Such as text/markdown'),
      contentFormat: v.optional(
        v.pipe(
          v.picklist(['markdown', 'csv']),
          v.description('Of fileContent, to make a docx, xlsx, pptx or pdf of it'),
        ),
      ),
    },
    adds,
  ],
  [
    'searchRag',
    'searches',
    'Searches stored files that were indexed.',
    {
      query: text('In words, or as a question'),
      files: v.optional(v.pipe(v.array(v.string()), v.description('Paths or ids; all when absent'))),
      name: v.optional(text('Part of the name of the files')),
      from: v.optional(text('Stored from this day on, as 2026-03-01')),
      to: v.optional(text('Stored up to this day')),
      limit: v.optional(v.pipe(v.number(), v.description('1 to 20 passages'))),
      characters: v.optional(v.pipe(v.number(), v.description('Of a passage; above 1400 with what stands around it'))),
    },
    reads,
  ],
  [
    decideTool.name,
    'decides',
    decideTool.about,
    { ...decideTool.params, model: v.optional(text('A confidential model; one that decides when absent')) },
    reads,
  ],
  ['listFiles', 'keeps', 'Stored files, newest first.', { offset: v.optional(v.number()) }, reads],
  [
    'storeFile',
    'keeps',
    'Seals and stores a local file.',
    { file, index: v.optional(v.pipe(v.boolean(), v.description('Make it searchable'))) },
    { ...adds, idempotentHint: true },
  ],
  ['fetchFile', 'keeps', 'Opens a stored file into a local file.', { id: text('Of a stored file') }, adds],
  ['removeFile', 'keeps', 'Removes a stored file for good.', { id: text('Of a stored file') }, removes],
]

const catalog: readonly Entry[] = rows.map(([name, kind, about, params, hints]) => ({
  name,
  kind,
  about,
  params: v.strictObject(params) as Entry['params'],
  hints,
}))

/** A tool in the form of the protocol's `tools/list`. */
export const listedTool = ({ name, about, params, hints }: Entry): object => {
  const { $schema: _, ...inputSchema } = toJsonSchema(params)
  return { name, description: about, inputSchema, annotations: hints }
}

/** The wanted tools, in the order of the catalog. Throws when a name is not in the catalog. */
export const chosenTools = (wished: string | undefined): readonly Entry[] => {
  if (wished === undefined) return catalog
  const names = wished.split(',').map((name) => name.trim())
  const odd = names.find((name) => !catalog.some((entry) => entry.name === name))
  if (odd !== undefined) throw new Error(`--tools is a list of ${catalog.map(({ name }) => name).join(', ')}`)
  return catalog.filter(({ name }) => names.includes(name))
}
