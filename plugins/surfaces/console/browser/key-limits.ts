import type { Key } from './answers.ts'
import { el } from './element.ts'
import { cost, count } from './format.ts'
import { field } from './parts.ts'

/** A limit or a budget of a key, as the form and the list name it. */
interface LimitField {
  readonly name: string
  readonly label: string
  readonly hint: string
  readonly isMoney: boolean
}

const budgetHint = 'In the currency of the prices; empty for the configured budget.'
const limitHint = 'Empty for the configured limit.'

export const budgets: readonly LimitField[] = [
  { name: 'costPerDay', label: 'Budget a day', hint: budgetHint, isMoney: true },
  { name: 'costPerWeek', label: 'Budget a week', hint: budgetHint, isMoney: true },
  { name: 'costPerMonth', label: 'Budget a month', hint: budgetHint, isMoney: true },
]

const limits: readonly LimitField[] = [
  ...budgets,
  { name: 'requestsPerSecond', label: 'Requests a second', hint: limitHint, isMoney: false },
  { name: 'concurrentRequests', label: 'Requests at once', hint: limitHint, isMoney: false },
  { name: 'tokensPerMinute', label: 'Tokens a minute', hint: limitHint, isMoney: false },
  { name: 'tokensPerDay', label: 'Tokens a day', hint: limitHint, isMoney: false },
]

/** The label of a limit; a limit that no form has keeps its name. */
export const limitLabel = (name: string): string => limits.find((limit) => limit.name === name)?.label ?? name

const shown = ({ isMoney }: LimitField, value: number | null): string =>
  value === null ? 'none' : isMoney ? cost(value) : count(value)

/** The key's own budgets in words; null where the key has those of the configuration. */
export const budgetWords = ({ limits: own }: Pick<Key, 'limits'>): string | null => {
  const words = budgets.flatMap((budget) => {
    const value = own[budget.name]
    return value === undefined ? [] : [`${shown(budget, value)} ${budget.label.replace(/^Budget /, '')}`]
  })
  return words.length === 0 ? null : words.join(', ')
}

/** Inputs for limits and budgets, with the values of a key. */
export const limitFields = (own: Key['limits'] = {}, shown = limits): readonly HTMLElement[] =>
  shown.map(({ name, label, hint, isMoney }) =>
    field(
      label,
      hint,
      el('input', {
        ...{ name, type: 'number', min: isMoney ? '1e-9' : '1', step: isMoney ? 'any' : '1', autocomplete: 'off' },
        value: own[name] ?? '',
      }),
    ),
  )

/** The limits that the reader wrote. A limit of the key that the form does not show stays. */
export const limitsOf = (fields: FormData, own: Key['limits'] = {}): Key['limits'] => {
  const named = new Set(limits.map(({ name }) => name))
  const kept = Object.entries(own).filter(([name, value]) => !named.has(name) || value === null)
  const written = limits.flatMap(({ name }) => {
    const text = String(fields.get(name) ?? '').trim()
    return text === '' ? [] : [[name, Number(text)] as const]
  })
  return Object.fromEntries([...kept, ...written])
}

type Words = readonly string[] | null

const quoted = (word: string): string => (/^$|[\s,"]/.test(word) ? JSON.stringify(word) : word)

/** Words with spaces between them, and quotes of JSON around those that have some. */
export const wordsText = (words: Words): string => words?.map(quoted).join(' ') ?? ''

const unquoted = (word: string): string => {
  if (!word.startsWith('"')) return word
  try {
    return String(JSON.parse(word))
  } catch {
    // The quotes are letters of the name.
    return word
  }
}

/** Words that are separated by spaces or commas; null for none. A list that the reader leaves alone is the one before. */
export const wordList = (fields: FormData, name: string, before: Words = null): Words => {
  const text = String(fields.get(name) ?? '')
  if (before !== null && text === wordsText(before)) return before
  const words = text.match(/"(?:[^"\\]|\\.)*"(?=[\s,]|$)|[^\s,]+/g)
  return words && words.map(unquoted)
}
