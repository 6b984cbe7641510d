import { type Options, type SendSealed, inferenceNames, wholeAnswer } from './send-sealed.ts'

/** A question of the caller's own about the state. */
export interface Question {
  /** One of several labels, yes or no, or a level. */
  readonly type: 'choice' | 'noul' | 'score'
  readonly instructions: unknown
  /** `choice`: labels with their descriptions. `score`: levels in order. `noul`: both outcomes, or none. */
  readonly criteria?: unknown
}

/** The parameters of the route in the clear. `jev-latest` stands for any confidential model that decides. */
export interface DecisionParams {
  readonly model: string
  readonly state: unknown
  readonly questions: Readonly<Record<string, Question>>
  readonly images?: readonly string[]
  readonly videos?: readonly string[]
  readonly samples?: number
  readonly steps?: number
  readonly provider?: string
}

/** The answer to one question; its type decides which members are there. */
export interface DecisionAnswer {
  readonly choice?: string
  /** The probability of yes, from 0 to 1. */
  readonly noul?: number
  readonly score?: number
  readonly legend?: Readonly<Record<string, unknown>>
  readonly probabilities?: Readonly<Record<string, number>>
  /** From 0 to 1. */
  readonly confidence?: number
  /** Whether the answer keeps the error that the calibration of its model promises. */
  readonly advice?: 'act' | 'ask'
}

/** All answers of a request. */
export interface Decision {
  readonly model: string
  /** The keys are the ids of the questions. */
  readonly answers: Readonly<Record<string, DecisionAnswer>>
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number }
  readonly diagnostics: Readonly<Record<string, unknown>>
}

/** Sealed decisions. A call throws SealgateError, or the signal's reason after an abort. */
export interface Decisions {
  create(params: DecisionParams, options?: Pick<Options, 'signal' | 'receipt'>): Promise<Decision>
}

/** Typed questions that only the enclave reads. */
export const decisions = (send: SendSealed): Decisions => ({
  async create(params, options = {}) {
    return (await wholeAnswer(await send('rvenc/decision', params, options, inferenceNames), options)) as Decision
  },
})
