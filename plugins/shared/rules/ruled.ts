import type { Caller } from '../../../core/access/caller.ts'
import type { RequestRecord } from '../../../core/ports/observer.ts'
import type { ChatBody } from '../../../core/ports/upstream.ts'

/** A chat whose model a rule chooses. */
export interface RuledChat {
  readonly caller: Caller
  readonly session: string | null
  readonly record?: RequestRecord
  /** The chat as the guards let it go on. */
  readonly body: ChatBody
}

/** A model, and the reason in a few words of the configuration. */
export interface RuledModel {
  readonly model: string
  readonly why: string
}

/** A rule after the check of the settings. */
export interface Rule {
  readonly decide: {
    readonly with: string
    readonly instructions: string
    readonly criteria: Readonly<Record<string, string>>
    readonly below: number
    readonly patience: number
  }
  readonly routes: readonly { readonly when: string; readonly model: string }[]
  readonly otherwise: string
  readonly long: number
}
