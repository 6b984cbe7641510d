import { readPlain } from '../../../core/dialects/read-json.ts'
import type { Completion } from '../../../core/ports/upstream.ts'
import { softened } from './calibration.ts'

/** What one read gives for the marks, in the order shown. */
export interface Odds {
  /** Sums to 1. */
  readonly probabilities: readonly number[]
  readonly labelMass?: number
  readonly truncated?: boolean
}

/** A label that is out of sight is of no account below this share of what is seen. */
const negligible = 0.01
/** So little mass means that the model answered something else. */
const leastMass = 0.01

/** Null when the backend gave no log-probabilities, `astray` when they lie elsewhere than on the marks. */
export const oddsOf = (
  completion: Completion,
  marks: readonly string[],
  temperature: number,
): Odds | 'astray' | null => {
  const seen = firstToken(completion)
  if (seen === null) return null
  const folded = marks.map(fold)
  const masses = new Map(folded.map((mark) => [mark, 0]))
  for (const [token, probability] of seen) {
    const mark = fold(token)
    const mass = masses.get(mark)
    if (mass !== undefined) masses.set(mark, mass + probability)
  }
  const each = folded.map((mark) => masses.get(mark)!)
  const mass = each.reduce((sum, odds) => sum + odds, 0)
  if (mass < leastMass) return 'astray'
  return {
    probabilities: softened(
      each.map((odds) => odds / mass),
      temperature,
    ),
    labelMass: Math.min(1, mass),
    truncated: each.includes(0) && hidden(seen.map(([, probability]) => probability)) > negligible * mass,
  }
}

/** The most that a token may have that is not among those seen. */
const hidden = (seen: readonly number[]): number =>
  Math.min(Math.min(...seen), Math.max(0, 1 - seen.reduce((sum, odds) => sum + odds, 0)))

/** Tokenizers tell apart what a reader does not: a space ahead, and the case. */
const fold = (token: string): string =>
  token
    .replace(/^[\s\u0120\u2581]+/, '')
    .trimEnd()
    .toLowerCase()

interface ListedToken {
  readonly token?: unknown
  readonly logprob?: unknown
}

/** Each likely first token with its probability. Two that read alike count both, unless they are one listed twice. */
const firstToken = (completion: Completion): readonly (readonly [token: string, probability: number])[] | null => {
  const logprobs = completion.choices[0]?.logprobs as {
    content?: readonly (ListedToken & { top_logprobs?: unknown })[] | null
  } | null
  const chosen = Array.isArray(logprobs?.content) ? logprobs.content[0] : null
  if (!chosen) return null
  const top = Array.isArray(chosen.top_logprobs) ? (chosen.top_logprobs as readonly ListedToken[]) : []
  const all = top.some((told) => told?.token === chosen.token) ? top : [...top, chosen]
  const seen = new Map<string, readonly [string, number]>()
  for (const told of all) {
    if (typeof told?.token !== 'string' || typeof told.logprob !== 'number' || !(told.logprob <= 1e-3)) continue
    seen.set(`${told.logprob} ${told.token}`, [told.token, Math.min(1, Math.exp(told.logprob))])
  }
  return seen.size > 0 ? [...seen.values()] : null
}

/** Null when the answer is no weight for each mark and nothing else. */
export const weighedOdds = (completion: Completion, marks: readonly string[]): Odds | null => {
  const content = completion.choices[0]?.message.content
  if (typeof content !== 'string') return null
  let json: unknown
  try {
    json = readPlain(content)
  } catch {
    return null
  }
  if (typeof json !== 'object' || json === null || Object.keys(json).length !== marks.length) return null
  const weights = marks.map((mark) => (json as Readonly<Record<string, unknown>>)[mark])
  if (!weights.every((weight): weight is number => typeof weight === 'number' && weight >= 0 && weight <= 100))
    return null
  const sum = weights.reduce((sum, weight) => sum + weight, 0)
  return sum > 0 ? { probabilities: weights.map((weight) => weight / sum) } : null
}
