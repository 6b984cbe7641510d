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
}

interface About<S extends GenericSchema> {
  /** The tool's identifier, as the interface spells it. */
  readonly name: string
  /** What a person may call it; the name when absent. */
  readonly shortName?: string
  readonly description: string
  /** Checked inside the enclave; never strict about keys the wire adds. */
  readonly params: S
  /** Which allowances pay for the models that work for it; absent for a tool that needs none. */
  readonly takes?: readonly ('tokens' | 'audio')[]
}

/** Results are plain JSON, bounded, and say when they were cut. Faults: BadRequest with a constant message, UpstreamFailed, Unavailable. */
export type Tool<S extends GenericSchema = GenericSchema> = About<S> &
  (
    | { readonly kind: 'simple'; run(params: InferOutput<S>, signal: AbortSignal): Promise<unknown> }
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
          search: (query: string, fileIds?: readonly string[]) => Promise<readonly Hit[]>,
        ): Promise<unknown>
      }
  )

export const Tool = many<Tool<any>>('Tool')
