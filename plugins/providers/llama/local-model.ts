import type { Turn } from './local-chat-turns.ts'

/** The number of a token in the model's vocabulary. */
export type Token = number

/** What a model has read and not forgotten. */
export interface Sequence {
  readonly nextTokenIndex: number
  readonly contextTokens: readonly Token[]
  readonly tokenMeter: { readonly usedOutputTokens: number }
  adaptStateToTokens(tokens: readonly Token[], allowShift: boolean): Promise<void>
  clearHistory(): Promise<void>
  controlledEvaluate(
    tokens: readonly (Token | readonly [Token, object])[],
  ): Promise<
    readonly (
      { readonly next: { readonly logits: ReadonlyMap<Token, number>; readonly totalLogitWeight: number } } | undefined
    )[]
  >
}

/** A language model in this process, as far as it is used here. */
export interface Model {
  createContext(options: object): Promise<{ readonly contextSize: number; getSequence(): Sequence }>
  detokenize(tokens: readonly Token[], special?: boolean): string
  iterateAllTokens(): Iterable<Token>
  isSpecialToken(token: Token): boolean
  readonly tokenizer: object
}

export interface Tokenized {
  tokenize(tokenizer: object): Token[]
}

/** A conversation in the form of the model's own template. */
export interface Chat {
  readonly chatWrapper: {
    readonly settings: { readonly segments?: { readonly thought?: { readonly suffix: Tokenized } } }
    generateContextState(of: { readonly chatHistory: readonly Turn[] }): {
      readonly contextText: Tokenized
    }
  }
  generateResponse(
    history: readonly Turn[],
    options: object,
  ): Promise<{ readonly metadata: { readonly stopReason: string } }>
}

/**
 * A prompt up to the place where the answer begins. A model that thinks is done with that there, whether or not its own
 * template says so.
 */
export const promptOf = (text: string, model: Model, { chatWrapper }: Chat): Token[] => {
  const render = (response: readonly (string | object)[]) => {
    const chatHistory: Turn[] = [
      { type: 'user', text },
      { type: 'model', response },
    ]
    return chatWrapper.generateContextState({ chatHistory }).contextText.tokenize(model.tokenizer)
  }
  const thought = chatWrapper.settings.segments?.thought
  const tokens = render([''])
  if (thought === undefined) return tokens
  const suffix = thought.suffix.tokenize(model.tokenizer)
  const ends = model.detokenize(tokens.slice(-suffix.length - 8), true).trimEnd()
  if (ends.endsWith(model.detokenize(suffix, true).trim())) return tokens
  return render([{ type: 'segment', segmentType: 'thought', text: '', ended: true }, ''])
}
