import type { Attempt, Running } from './answers.ts'
import { seconds, counted } from './format.ts'
import type { Lamp } from './parts.ts'

const reasons: Readonly<Record<number, string>> = {
  400: 'refused',
  401: 'no key',
  403: 'not allowed',
  404: 'not found',
  429: 'too many',
  499: 'caller left',
}

/** How a request stands; a status of 499 means that its caller left. */
export const standOf = ({ status, lost }: Pick<Running, 'status' | 'lost'>): Lamp => {
  if (lost === true) return { kind: 'idle', words: 'end not seen' }
  if (status === null) return { kind: 'idle', words: 'runs' }
  if (status < 300) return { kind: 'good', words: String(status) }
  if (status === 499) return { kind: 'mixed', words: '499 caller left' }
  return { kind: status >= 500 ? 'bad' : 'mixed', words: `${status} ${reasons[status] ?? 'failed'}` }
}

const outcomes: Readonly<Record<string, Lamp>> = {
  answered: { kind: 'good', words: 'answered' },
  failed: { kind: 'bad', words: 'failed' },
  broke: { kind: 'bad', words: 'broke' },
  left: { kind: 'mixed', words: 'left' },
}

export const outcomeOf = ({ outcome, status }: Pick<Attempt, 'outcome' | 'status'>): Lamp => {
  const known = outcomes[outcome ?? ''] ?? { kind: 'idle', words: 'waits' }
  return status === null ? known : { ...known, words: `${known.words}, ${status}` }
}

const causes: Readonly<Record<Attempt['cause'], string>> = {
  first: 'first',
  next: 'after a fault or silence',
  rescue: 'rescue of a stream',
}

export const causeOf = ({ cause }: Attempt): string => causes[cause]

/** Attempts in words, as `3, 1 rescue`. */
export const attemptWords = ({ attempts, attempts_left_out: more }: Running): string => {
  const rescues = attempts.filter(({ cause }) => cause === 'rescue').length
  const rescued = rescues === 0 ? '' : `, ${counted(rescues, 'rescue')}`
  return `${attempts.length + more}${rescued}`
}

/** Ms until now, or until the end. */
export const lengthOf = ({ at, ms, attempts, lost }: Running, now: number): number =>
  ms ??
  (lost === true ? Math.max(0, ...attempts.map((attempt) => attempt.from + (attempt.ms ?? 0))) : Math.max(0, now - at))

export const timeOf = (ms: number | null): string => (ms === null ? '–' : seconds(ms / 1000))
