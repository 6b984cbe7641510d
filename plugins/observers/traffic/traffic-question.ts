/** The last 60 minutes, or the last 48 half hours. */
export type Span = 'hour' | 'day'

/** The names under which traffic is counted. */
export type Grouping = 'model' | 'team' | 'organization' | 'backend'

/** What of the traffic is wanted. */
export interface TrafficQuestion {
  readonly span: Span
  readonly by: Grouping
  /** The name whose slots are wanted; null for all requests. */
  readonly name: string | null
}
