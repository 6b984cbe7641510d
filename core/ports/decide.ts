import type { BackendAnswer } from './backend-evidence.ts'
import type { Usage } from './usage.ts'

/** A number of JSON that JavaScript does not hold, by its digits. */
export class LongNumber extends String {}
type Scalar = null | boolean | number | string | LongNumber
/** JSON with Maps for objects, so that keys keep their order. */
export type OrderedJson = Scalar | readonly OrderedJson[] | ReadonlyMap<string, OrderedJson>

/** A question whose answer is one of a closed set, so that a backend can give each its probability. */
export type Question =
  | {
      readonly type: 'choice'
      readonly instructions: OrderedJson
      /** The order is the order of the probabilities; the label is what the caller reads. */
      readonly options: readonly { readonly label: string; readonly description: OrderedJson }[]
    }
  /** Yes or no, given as the probability of yes. */
  | { readonly type: 'noul'; readonly instructions: OrderedJson; readonly yes: OrderedJson; readonly no: OrderedJson }
  | { readonly type: 'score'; readonly instructions: OrderedJson; readonly levels: readonly OrderedJson[] }

/** All questions of one request. They share the state, so that a backend reads the state once. */
export interface DecideCall {
  /** The backend's own name of the model. */
  readonly model: string
  /** What the questions are about, in any JSON that the caller chose. */
  readonly state: OrderedJson
  /** Questions without their ids: no id ever reaches a backend. */
  readonly questions: readonly Question[]
  /** Data URLs: one image, or the four frames of a video. */
  readonly images: readonly string[]
  /** The number of averaged reads, and of denoising steps; null when the caller named none. */
  readonly samples: number | null
  readonly steps: number | null
}

/** A backend's answer to one question. */
export interface Distribution {
  /** In the order of options or levels; for noul first yes, then no. Sums to 1. */
  readonly probabilities: readonly number[]
  /** The probability of all labels before normalising, where known. */
  readonly labelMass?: number
  /** True when a label was missing from the backend's output and could have mattered. */
  readonly truncated?: boolean
  /** The number of reads, their agreement on the answer (0 to 1), and the standard error of the winner. */
  readonly reads?: number
  readonly agreement?: number
  readonly stderr?: number
}

export interface Decided extends BackendAnswer {
  /** One distribution per question, in order. */
  readonly distributions: readonly Distribution[]
  /** The sum over all reads of all questions. */
  readonly usage: Usage
  /** The method of the answer: `native`, `logprobs`, `structured`, `embeddings`, … */
  readonly engine: string
  /** Request fields without effect on this backend. */
  readonly ignored?: readonly ('samples' | 'steps')[]
}

/** The ability to decide; absent when the backend lacks it. */
export interface Decides {
  /** Returns probabilities only; core turns them into answers. A call that fails tells what it used to `spent`. */
  decide?(call: DecideCall, signal: AbortSignal, spent?: (usage: Usage) => void): Promise<Decided>
}
