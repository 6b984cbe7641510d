import type { Usage } from './answers.ts'
import { cost, count, counted } from './format.ts'
import { type Bar, plot } from './plot.ts'
import { type Sum, daysBetween, nothing, sumOf, sumsBy } from './sums.ts'
import type { UsageQuery } from './usage-query.ts'

/** Parts of a bar that have a name; what is left stands upon them. */
const mostParts = 4

const measured: Readonly<Record<UsageQuery['show'], (sum: Sum) => number>> = {
  requests: ({ requests, unpriced }) => requests - unpriced,
  tokens: ({ input, output }) => input + output,
  cost: ({ cost: known }) => known ?? 0,
}

export const measureWords = { requests: 'Requests', tokens: 'Tokens', cost: 'Cost' } as const

const wordsOf = (day: string, sum: Sum): string =>
  `${day}: ${counted(sum.requests, 'request')}, ${count(sum.unpriced)} unpriced, ${counted(sum.input + sum.output, 'token')}, ${sum.cost === null ? 'no known cost' : `cost ${cost(sum.cost)}`}`

/** The names that are largest by this measure, and whether others are left. */
export const largest = (rows: readonly Usage[], of: (row: Usage) => string, show: UsageQuery['show']) => {
  const sums = [...sumsBy(rows, of)].sort(([, one], [, other]) => measured[show](other) - measured[show](one))
  return { names: sums.slice(0, mostParts).map(([name]) => name), more: sums.length > mostParts }
}

/** Bars of the days, each of its largest parts. */
export const usagePlot = (
  rows: readonly Usage[],
  { from, to, split, show }: UsageQuery,
  worded: (name: string) => string,
): HTMLElement => {
  const of = (row: Usage): string => (split === '' ? '' : (row[split] ?? `no ${split}`))
  const { names, more } = largest(rows, of, show)
  const place = new Map(names.map((name, at) => [name, at]))
  const days = daysBetween(from, to)
  const byDay = new Map<string, Usage[]>()
  for (const row of rows) byDay.set(row.day, [...(byDay.get(row.day) ?? []), row])
  const barOf = (day: string): Bar => {
    const ofDay = byDay.get(day) ?? []
    const sum = sumOf(ofDay)
    const parts = sumsBy(ofDay, (row) => String(place.get(of(row)) ?? mostParts))
    const part = (at: number) => measured[show](parts.get(String(at)) ?? nothing)
    return {
      name: day,
      solid: split === '' ? measured[show](sum) : Array.from({ length: mostParts + 1 }, (_, at) => part(at)),
      hatched: show === 'requests' ? sum.unpriced : 0,
      words: wordsOf(day, sum),
    }
  }
  return plot({
    title: `${measureWords[show]} from ${days[0] ?? from} to ${to}`,
    bars: days.map(barOf),
    worded: show === 'cost' ? cost : count,
    hatchedWords: 'unpriced',
    ...(split !== '' && { parts: [...names.map(worded), ...(more ? ['others'] : [])] }),
  })
}
