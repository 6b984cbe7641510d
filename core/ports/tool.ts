import type { GenericSchema, InferOutput } from 'valibot'
import { many } from '../container.ts'

/** A caller's stored file in the clear, inside the enclave. */
export interface OpenFile {
  readonly id: string
  /** Empty, like `mime`, when the label does not open. */
  readonly name: string
  readonly mime: string
  readonly bytes: Uint8Array
}

/** The result of a file-producing tool; the enclave seals and stores it. */
export interface MadeFile {
  readonly name: string
  readonly mime: string
  readonly bytes: Uint8Array
}

/** A passage that a search found. */
export interface Hit {
  readonly fileId: string
  /** The text around the words of the query. */
  readonly snippet: string
  /** From 0 to 1. Scores of different queries cannot be compared. */
  readonly score: number
  /** Page or slide, from 1; null when the document has none. */
  readonly page: number | null
  /** The heading over the passage, and the file's name without its ending. Null when the index has none. */
  readonly heading?: string | null
  readonly title?: string | null
  /** When the file was stored, in ms since 1970, as the gateway tells; null when it does not. */
  readonly created?: number | null
}

/** What a search keeps to, and how much of the text it shows. */
export interface SearchBounds {
  /** A part of the file's name, in any case. Files whose index has no name are left out. */
  readonly name?: string
  /** In ms since 1970: files stored at `from` or later, and before `to`. */
  readonly from?: number
  readonly to?: number
  /** In characters: the longest snippet; 1400 when absent. A longer snippet shows the passages around a hit too. */
  readonly characters?: number
}

/** The results of a search, best first. */
export interface Hits extends ReadonlyArray<Hit> {
  /** Files whose words alone were searched, because another model or no model made their vectors. */
  readonly outdated?: readonly string[]
}

interface About<S extends GenericSchema> {
  /** The tool's identifier in the interface. */
  readonly name: string
  /** A name for people; `name` when absent. */
  readonly shortName?: string
  readonly description: string
  /**
   * The enclave checks the parameters. It refuses names outside a `v.object`, and treats null and '' of an optional
   * parameter as absent.
   */
  readonly params: S
  /** In bytes of JSON: the limit of the parameters; 16 KiB when absent. */
  readonly mostParams?: number
  /** The kind of every file that the tool makes; `general` when absent. */
  readonly makes?: 'image' | 'audio'
  /** The allowances that pay for the tool's models; absent when the tool needs none. */
  readonly takes?: readonly ('tokens' | 'audio')[]
}

/**
 * Results are plain JSON, bounded, and say when they were cut. Faults: BadRequest with a constant message,
 * UpstreamFailed, Unavailable.
 */
export type Tool<S extends GenericSchema = GenericSchema> = About<S> &
  (
    | {
        readonly kind: 'simple'
        /** It changes nothing, and may run in the gateway too, on parameters in the clear; inside the enclave alone when absent. */
        readonly clear?: true
        run(params: InferOutput<S>, signal: AbortSignal): Promise<unknown>
      }
    | { readonly kind: 'makes-file'; run(params: InferOutput<S>, signal: AbortSignal): Promise<MadeFile> }
    | {
        readonly kind: 'reads-file'
        run(params: InferOutput<S>, signal: AbortSignal, file: OpenFile): Promise<unknown>
      }
    | {
        readonly kind: 'retrieval'
        run(
          params: InferOutput<S>,
          signal: AbortSignal,
          search: (query: string, fileIds?: readonly string[], bounds?: SearchBounds) => Promise<Hits>,
        ): Promise<unknown>
      }
  )

// A tool alone knows the type of its parameters, so the port takes every type.
export const Tool = many<Tool<any>>('Tool', {
  name: 'text',
  description: 'text',
  params: 'schema',
  kind: ['simple', 'makes-file', 'reads-file', 'retrieval'],
  run: 'function',
})
