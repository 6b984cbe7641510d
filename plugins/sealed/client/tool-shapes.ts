/** A stored file that a tool made. Only this client can unwrap its key. */
export interface MadeByTool {
  readonly fileId: string
  readonly name: string
  readonly mime: string
  /** In bytes of the sealed content. */
  readonly size: number
}

/** A tool that reads one of the caller's stored files. */
interface OfFile {
  readonly fileId: string
}

/** Pages, slides or sections from 1, both inclusive. */
interface Span {
  readonly from?: number
  readonly to?: number
}

interface ToMake {
  readonly fileName: string
  readonly fileExtension: string
  readonly fileContent: string
  readonly mimeType: string
}

/** A search in the caller's indexed files. */
interface Sought {
  readonly query: string
  /** All indexed files when absent. */
  readonly fileIds?: readonly string[]
  /** The largest number of results. */
  readonly limit?: number
}

interface SoughtFiles {
  readonly name?: string
  /** A day or a time in ISO 8601. */
  readonly from?: string
  readonly to?: string
  /** In characters: the longest snippet. */
  readonly characters?: number
}

/** Parameters with others that may be absent. TypeScript takes another overload where a single type has optional members. */
type With<P, More> = P | (P & More)

/** The parameters of the built-in tools. */
export interface ToolParams {
  readonly generateImage: { readonly prompt: string }
  readonly audioGenerateFromText: { readonly text: string }
  readonly createFileForUser: With<ToMake, { readonly contentFormat: 'markdown' | 'csv' }>
  readonly imageDescribeAndCaption: OfFile
  readonly imageDescribeAndCaptionFallback: OfFile
  readonly videoDescribeAndCaption: OfFile
  readonly getPDFContent: With<OfFile, Span>
  readonly getTextDocumentContent: With<OfFile, Span>
  readonly audioDiarization: OfFile
  readonly getFileContentOCR: With<OfFile, { readonly from: number; readonly languages: readonly string[] }>
  readonly getSpreadsheetContent: With<OfFile, { readonly sheet?: string; readonly range?: string }>
  readonly getDataFileContent: OfFile
  readonly transcribeAudioToText: OfFile & { readonly language?: string }
  readonly transcribeAudioWithDiarization: OfFile & { readonly language?: string }
  readonly getPowerPointContent: With<OfFile, Span & { readonly slideNumbers?: readonly number[] }>
  readonly getTime: { readonly timezone: string }
  readonly webSearchTool: { readonly query: string; readonly country?: string; readonly searchLang?: string }
  readonly webPageScraperTool: { readonly url: string; readonly renderJs?: boolean }
  readonly searchRag: With<Sought, SoughtFiles>
}

/** The built-in tools; `call` takes the names of others, too. */
export type ToolName = keyof ToolParams

/** Results whose form the client promises. */
interface ToolResults {
  readonly getTime: {
    readonly timezone: string
    readonly utc: string
    readonly date: string
    readonly time: string
    readonly weekday: string
    readonly offset: string
  }
  readonly generateImage: MadeByTool
  readonly audioGenerateFromText: MadeByTool
  readonly createFileForUser: MadeByTool
  readonly searchRag: {
    readonly results: readonly {
      readonly fileId: string
      readonly page: number | null
      readonly heading: string | null
      readonly title: string | null
      /** When the file was stored, in ISO 8601. */
      readonly created: string | null
      readonly snippet: string
      readonly score: number
    }[]
  }
}

/** The results of the built-in tools; `docs/plugins.md` describes the other results. */
export type ToolResult = {
  readonly [T in ToolName]: T extends keyof ToolResults ? ToolResults[T] : Readonly<Record<string, unknown>>
}
