/** What the gateway's documented routes answer, as far as the console reads it. */

export interface Key {
  readonly id: string
  readonly name: string
  readonly organization: string
  readonly user: string
  /** Null for a key of no team. */
  readonly team: string | null
  readonly mode: 'live' | 'test'
  readonly scopes: readonly string[]
  readonly models: readonly string[] | null
  readonly addresses: readonly string[] | null
  readonly limits: Readonly<Record<string, number | null>>
  readonly hint: string
  /** A day of UTC; null where the key was never used. */
  readonly last_used?: string | null
  /** Unix time in ms, as the two below. */
  readonly created_at: number
  readonly expires_at: number | null
  readonly revoked_at: number | null
  readonly version: number
}

export type Budgets = Readonly<Record<string, number | null>>

/** A team of the configuration, which its file alone changes, or of the gateway's store. */
export interface Team {
  readonly name: string
  readonly source: 'configuration' | 'store'
  readonly budgets: Budgets
  /** The budgets that hold. */
  readonly limits: Budgets
  readonly version: number
  /** Unix time in ms; null for a team of the configuration. */
  readonly created_at: number | null
  readonly closed_at: number | null
}

export interface Usage {
  readonly key: string
  readonly user?: string | null
  readonly team?: string | null
  /** In UTC. */
  readonly day: string
  readonly model: string
  readonly requests: number
  readonly input: number
  readonly output: number
  readonly reasoning: number
  readonly cached: number
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
  readonly price_config: Readonly<Record<string, Prices | undefined>>
}

export interface Paged {
  readonly total: number
}

export interface Front {
  readonly links: Readonly<Record<string, string>>
}

/** What the caller's key may do. */
export interface Self {
  /** The id of the key. */
  readonly key: string
  readonly scopes: readonly string[]
  /** Null for a key of no team. */
  readonly team: string | null
  readonly operator: boolean
  /** Three letters; null where the gateway does not name it. */
  readonly currency: string | null
}

export interface Link {
  readonly backend: string
  /** The backend's own name of the model. */
  readonly model: string
  readonly priority: number
  readonly weight: number
  readonly context_tokens: number | null
}

export interface Chained {
  readonly model: string
  readonly type: string
  readonly standard: boolean
  readonly confidential: boolean
  readonly chain: readonly Link[]
}

export type Breaker = 'closed' | 'half_open' | 'open'

/** Times are in ms; null without any call. */
export interface Backing {
  readonly backend: string
  readonly state: Breaker
  readonly rest_ms: number
  readonly breakers: readonly { readonly model: string; readonly state: Breaker; readonly rest_ms: number }[]
  readonly calls: readonly {
    readonly at: number
    readonly outcome: string
    readonly status: number | null
    readonly ms: number
  }[]
  readonly faults: readonly { readonly kind: string; readonly count: number }[]
  readonly p50_ms: number | null
  readonly p95_ms: number | null
  readonly first_token_p50_ms: number | null
  readonly first_token_p95_ms: number | null
  /** Unix time in ms; null without a list. */
  readonly listed_at: number | null
  readonly used: {
    readonly requests: number
    readonly input: number
    readonly output: number
    readonly unpriced: number
    /** Null where no price is known. */
    readonly cost: number | null
  }
}

export interface Attempt {
  readonly backend: string
  readonly model: string
  readonly cause: 'first' | 'next' | 'rescue'
  /** In ms since the beginning of the request. */
  readonly from: number
  /** Null while the attempt waits, as the next one. */
  readonly ms: number | null
  readonly outcome: string | null
  readonly status: number | null
  readonly streams: boolean
}

/** A request as it runs; what is not known yet is null. */
export interface Running {
  readonly id: string
  /** Unix time in ms. */
  readonly at: number
  readonly route: string
  readonly organization: string | null
  readonly key: string | null
  readonly model: string | null
  readonly backend: string | null
  readonly attempts: readonly Attempt[]
  readonly attempts_left_out: number
  readonly first_token: number | null
  readonly tokens: { readonly input: number; readonly output: number } | null
  readonly status: number | null
  readonly ms: number | null
  /** Of this tab: it stopped listening before the request ended. */
  readonly lost?: true
}

export interface LiveNews {
  readonly requests: readonly Running[]
  readonly passed: number
  readonly processes: number
}

/** A sealed file, as the gateway keeps it. */
export interface StoredFile {
  readonly id: string
  readonly kid: string
  readonly file_size: number
  readonly created_at: string
  readonly updated_at: string | null
  readonly type_hint: string
  readonly rag_status: string
  readonly binding: string | null
}

export interface Storage {
  readonly stored: { readonly bytes: number; readonly files: number }
  /** Null for no limit. */
  readonly quota: { readonly bytes: number | null; readonly files: number | null }
}

/** A sealed file, as the reader's own machine reads it. */
export interface OpenedFile {
  readonly id: string
  /** Null for a file that its keys do not open, as the one below. */
  readonly name: string | null
  readonly mime: string | null
  readonly file_size: number
  readonly created_at: string
  readonly rag_status: string
}

export interface FoundText {
  readonly fileId: string
  readonly name: string | null
  readonly page: number | null
  readonly snippet: string
}

/** Figures of one span of time; times are in ms, and null without any. */
export interface TrafficFigures {
  readonly requests: number
  /** Null for models and teams. */
  readonly errors: number | null
  readonly sealed: number
  readonly p50_ms: number | null
  readonly p95_ms: number | null
  readonly first_token_p50_ms: number | null
  readonly first_token_p95_ms: number | null
  readonly input: number
  readonly output: number
  readonly cost: number
  readonly unpriced: number
}

/** A time in which no call of a backend's model was answered. */
export interface Incident {
  readonly backend: string
  /** The backend's own name of the model. */
  readonly model: string
  /** Unix time in ms, as the one below. */
  readonly since: number
  /** Null while no call is answered. */
  readonly until: number | null
  readonly failed: number
  readonly status: number | null
}

export interface Traffic {
  readonly step_ms: number
  readonly slots: readonly (TrafficFigures & { readonly at: number })[]
  readonly sums: readonly (TrafficFigures & { readonly name: string })[]
  readonly marks: readonly { readonly at: number; readonly what: string }[]
  readonly incidents: readonly Incident[]
}
