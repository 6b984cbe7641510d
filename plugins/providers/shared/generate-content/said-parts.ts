export interface JsonObject {
  readonly [field: string]: unknown
}

export interface SaidPart extends JsonObject {
  readonly text?: string
  /** True when the text is a thought. */
  readonly thought?: boolean
  readonly thoughtSignature?: string
  readonly inlineData?: { readonly mimeType?: string; readonly data?: string }
  readonly functionCall?: JsonObject & { readonly id?: string; readonly name?: string; readonly args?: unknown }
}

/** One of the answers that the caller asked for. */
export interface Candidate extends JsonObject {
  readonly index?: number
  readonly content?: { readonly parts?: readonly SaidPart[] }
  readonly finishReason?: string
}

/** A piece of their answer, or the whole of it. */
export interface Said extends JsonObject {
  readonly candidates?: readonly Candidate[]
  readonly usageMetadata?: JsonObject
}
