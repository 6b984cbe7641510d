import type { BackendCall } from './records.ts'

/** The class of a backend's fault, told by its status alone. */
export const faultKinds = [
  'unreached',
  'key_refused',
  'rate_limited',
  'request_refused',
  'server_error',
  'stream_broken',
] as const
/** The name of one class. */
export type FaultKind = (typeof faultKinds)[number]

/** Null for a call without a fault. */
export const faultOf = ({ outcome, status }: Pick<BackendCall, 'outcome' | 'status'>): FaultKind | null => {
  if (outcome === 'broke') return 'stream_broken'
  if (outcome !== 'failed') return null
  // No connection, no answer in time, or an answer in no form that its provider knows.
  if (status === null) return 'unreached'
  if (status === 401 || status === 403) return 'key_refused'
  if (status === 429) return 'rate_limited'
  return status >= 500 ? 'server_error' : 'request_refused'
}
