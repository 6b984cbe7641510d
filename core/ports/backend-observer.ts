import { many } from '../container.ts'

/** `left`: given up before it said anything, because another one was faster or nobody waited any more; `broke`: its stream did. */
export const outcomes = ['answered', 'failed', 'left', 'broke'] as const
export type Outcome = (typeof outcomes)[number]

/** Is told how every call to a backend went. In the enclave there is none. */
export interface Witness {
  /** Ms until then since it was asked, or since its stream began where that broke; the status with which it failed, where it had one. */
  saw(provider: string, outcome: Outcome, ms: number, status: number | null): void
}

export const Witness = many<Witness>('Witness')
