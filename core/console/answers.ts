/** What the gateway's documented routes answer, as far as the console reads it. */

export interface Key {
  readonly id: string
  readonly name: string
  readonly organization: string
  readonly user: string
  readonly mode: 'live' | 'test'
  readonly scopes: readonly string[]
  readonly models: readonly string[] | null
  readonly addresses: readonly string[] | null
  readonly limits: Readonly<Record<string, number | null>>
  readonly makers: readonly string[]
  readonly hint: string
  /** Unix time in ms, as the two below. */
  readonly created_at: number
  readonly expires_at: number | null
  readonly revoked_at: number | null
}

export interface Usage {
  readonly key: string
  /** In UTC. */
  readonly day: string
  readonly model: string
  readonly requests: number
  readonly input: number
  readonly output: number
  readonly reasoning: number
  readonly cached: number
  readonly audio_seconds: number
  readonly estimated: number
  readonly unanswered: number
  readonly unpriced: number
  /** Null when the price of no request is known. */
  readonly cost: number | null
}

export interface Act {
  readonly id: string
  readonly at: number
  readonly actor: string
  readonly user: string | null
  readonly action: string
  readonly object: string | null
  readonly outcome: string
}

export type Prices = Readonly<Record<string, Readonly<Record<string, number | undefined>>>>

export interface Model {
  readonly model: string
  readonly name: string
  readonly type: string
  readonly owned_by: string
  readonly regions: readonly string[]
  readonly usage_mode: string
  readonly price_config: Readonly<Record<string, Prices | undefined>>
}

export interface Paged {
  readonly total: number
  readonly has_more: boolean
}

export interface Front {
  readonly ready: boolean
  readonly links: Readonly<Record<string, string>>
}
