import type { ChatCall, Native } from './chat.ts'

/** A chat request whose prompt is counted and not answered. */
export type CountCall = Pick<ChatCall, 'model' | 'body' | 'native' | 'beside'>

/** What the backend counted, never an estimate of the gateway. */
export interface TokenCount {
  /** Of the whole prompt: messages, instructions and tools. */
  readonly tokens: number
  /** The count in the backend's dialect, unchanged; only where the call was in that dialect. */
  readonly native?: Native
}

/** The ability to count the tokens of a prompt; absent when the backend lacks it. */
export interface CountsTokens {
  /** Null for a prompt or a model that the backend serves and does not count. */
  countTokens?(call: CountCall, signal: AbortSignal): Promise<TokenCount | null>
}
