import type { Usage } from './usage.ts'

/** JSON whose objects are Maps, so that keys keep the order they were sent in. */
export type OrderedJson = null | boolean | number | string | readonly OrderedJson[] | ReadonlyMap<string, OrderedJson>

export type Question =
  | {
      readonly type: 'choice'
      readonly instructions: OrderedJson
      readonly options: readonly { readonly label: string; readonly description: OrderedJson }[]
    }
  | { readonly type: 'noul'; readonly instructions: OrderedJson; readonly yes: OrderedJson; readonly no: OrderedJson }
  | { readonly type: 'score'; readonly instructions: OrderedJson; readonly levels: readonly OrderedJson[] }

export interface DecideCall {
  readonly model: string
  readonly state: OrderedJson
  /** Without their ids: no id ever reaches a backend. */
  readonly questions: readonly Question[]
  /** Data URLs: one image, or the four frames of a video. */
  readonly images: readonly string[]
  /** How many reads to average, and denoising steps; null when the caller named none. */
  readonly samples: number | null
  readonly steps: number | null
}

/** What a backend thinks of one question. */
export interface Distribution {
  /** In the order of options or levels; for noul first yes, then no. Sums to 1. */
  readonly probabilities: readonly number[]
  /** Mass on the labels before normalising, where known. */
  readonly labelMass?: number
  /** A label was out of sight and could have mattered. */
  readonly truncated?: boolean
  /** How many reads stand behind it, how far they agreed on the answer (0 to 1), and the standard error of the winner. */
  readonly reads?: number
  readonly agreement?: number
  readonly stderr?: number
}

export interface Decided {
  /** One a question, in their order. */
  readonly distributions: readonly Distribution[]
  readonly usage: Usage
  /** How it was read off: `native`, `logprobs`, `structured`, `embeddings`, … */
  readonly engine: string
  /** Request fields that the backend can't honour. */
  readonly ignored?: readonly ('samples' | 'steps')[]
}

/** The ability to decide; absent where the backend has none. */
export interface Decides {
  /** Probabilities only; core makes answers of them. */
  decide?(call: DecideCall, signal: AbortSignal): Promise<Decided>
}
