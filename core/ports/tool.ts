import type { GenericSchema, InferOutput } from 'valibot'
import { many } from '../container.ts'

export interface OpenFile {
  readonly id: string
  readonly name: string
  readonly mime: string
  readonly bytes: Uint8Array
}

/** What a file-producing tool gives back; the enclave seals and stores it. */
export interface MadeFile {
  readonly name: string
  readonly mime: string
  readonly bytes: Uint8Array
}

export interface Hit {
  readonly fileId: string
  readonly snippet: string
  readonly score: number
  /** Page or slide, from 1, where the document has such. */
  readonly page: number | null
  /** What the passage stands under, and the name of its file without its ending; null where the index doesn't say it. */
  readonly heading?: string | null
  readonly title?: string | null
}

/** What a search found, the best first. */
export interface Hits extends ReadonlyArray<Hit> {
  /** Files of which the words alone were searched, because another model made their vectors or none did. */
  readonly outdated?: readonly string[]
}

interface About<S extends GenericSchema> {
  /** The tool's identifier, as the interface spells it. */
  readonly name: string
  /** What a person may call it; the name when absent. */
  readonly shortName?: string
  readonly description: string
  /** Checked inside the enclave, which refuses names that a `v.object` doesn't list and takes null and '' of optional ones for absent. */
  readonly params: S
  /** Bytes of JSON that its parameters may take; 16 KiB when absent. */
  readonly mostParams?: number
  /** The kind of every file that the tool makes; `general` when absent. */
  readonly makes?: 'image' | 'audio'
  /** Which allowances pay for the models that work for it; absent for a tool that needs none. */
  readonly takes?: readonly ('tokens' | 'audio')[]
}

/** Results are plain JSON, bounded, and say when they were cut. Faults: BadRequest with a constant message, UpstreamFailed, Unavailable. */
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
          search: (query: string, fileIds?: readonly string[]) => Promise<Hits>,
        ): Promise<unknown>
      }
  )

export const Tool = many<Tool<any>>('Tool')
