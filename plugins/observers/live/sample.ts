import type { LiveRequest } from './live-request.ts'

/** The requests that a listener may see: those of an organisation; null stands for all. */
export type Part = string | null

/** A request as JSON. */
export interface PrintedRequest {
  readonly id: string
  readonly text: string
}

/** What changed of a part since the last batch. */
export interface Batch {
  readonly part: Part
  readonly requests: readonly PrintedRequest[]
  /** Requests that began meanwhile and are not in the sample. */
  readonly passed: number
}

/** At most so many requests a second of one part, taken as they begin. */
export interface Sample {
  /** Whether the request is in the sample. */
  takes(now: number): boolean
  /** The request is printed with the next batch, in the state that it has then. */
  changed(request: LiveRequest): void
  /** Null when nothing is new. */
  batch(): Batch | null
}

/** `perSecond` may change at any time. A second is a whole second of Unix time. */
export const sampleOf = (part: Part, perSecond: () => number): Sample => {
  const changes = new Set<LiveRequest>()
  let second = 0
  let taken = 0
  let passed = 0
  return {
    takes(now) {
      const thisSecond = Math.floor(now / 1000)
      if (thisSecond !== second) [second, taken] = [thisSecond, 0]
      if (taken < perSecond()) {
        taken++
        return true
      }
      passed++
      return false
    },
    changed: (request) => void changes.add(request),
    batch() {
      if (changes.size === 0 && passed === 0) return null
      const requests = [...changes].map((request) => ({ id: request.id, text: JSON.stringify(request) }))
      const sample = { part, requests, passed }
      changes.clear()
      passed = 0
      return sample
    },
  }
}
