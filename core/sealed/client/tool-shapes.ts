/** A stored file that a tool made. Only this client can unwrap its key. */
export interface MadeByTool {
  readonly fileId: string
  readonly name: string
  readonly mime: string
  readonly size: number
}

interface OfFile {
  readonly fileId: string
}

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

interface Sought {
  readonly query: string
  readonly fileIds?: readonly string[]
  readonly limit?: number
}

interface SoughtFiles {
  readonly name?: string
  /** A day or a time in ISO 8601. */
  readonly from?: string
  readonly to?: string
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
  readonly getFileContentOCR: With<OfFile, { readonly languages: readonly string[] }>
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

export type ToolName = keyof ToolParams

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
