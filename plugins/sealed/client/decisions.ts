import type { Options } from './chat.ts'
import { cutBy } from './error.ts'
import { receiptBeside } from './receipts.ts'
import { openAnswer } from './seal-request.ts'
import type { SendSealed } from './send-sealed.ts'

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

const names = { params: 'encryptedInference', kid: 'enclaveKid' }

/** Typed questions that only the enclave reads. */
export const decisions = (send: SendSealed): Decisions => ({
  async create(params, { signal, receipt } = {}) {
    const body = receipt ? { ...params, receipt: true } : { ...params }
    const sent = await send('rvenc/decision', body, signal ?? null, names)
    const answer: unknown = await sent.answer.json().catch(cutBy(signal ?? null))
    const decision = openAnswer(sent.request, answer) as Decision
    receipt?.(receiptBeside(sent.request, answer))
    return decision
  },
})
