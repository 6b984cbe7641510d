export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const line = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const label = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

const unescaped = (text: string): string => text.replace(/\\(.)/g, (_, it: string) => (it === 'n' ? '\n' : it))

const numberOf = (text: string): number => (text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text))

/** The samples of the text form that Prometheus reads; lines of another form are left out. */
export const samplesOf = (text: string): readonly Sample[] =>
  text.split('\n').flatMap((it) => {
    const [, name, labels = '', value] = line.exec(it) ?? []
    if (name === undefined || value === undefined) return []
    const pairs = [...labels.matchAll(label)].map(([, name = '', value = '']) => [name, unescaped(value)] as const)
    return [{ name, labels: Object.fromEntries(pairs), value: numberOf(value) }]
  })

export const sumOf = (samples: readonly Sample[], name: string, fits: (labels: Sample['labels']) => boolean): number =>
  samples.reduce((sum, it) => (it.name === name && fits(it.labels) ? sum + it.value : sum), 0)

/** Seconds below which this part of a histogram's calls stayed, between the bounds of its bucket; null without any call. */
export const quantileOf = (
  samples: readonly Sample[],
  histogram: string,
  fits: (labels: Sample['labels']) => boolean,
  part: number,
): number | null => {
  const counts = new Map<number, number>()
  for (const { name, labels, value } of samples)
    if (name === `${histogram}_bucket` && fits(labels)) {
      const bound = numberOf(labels['le'] ?? '')
      counts.set(bound, (counts.get(bound) ?? 0) + value)
    }
  const bounds = [...counts].sort(([one], [other]) => one - other)
  const wanted = (bounds.at(-1)?.[1] ?? 0) * part
  if (wanted === 0) return null
  let [below, passed] = [0, 0]
  for (const [bound, count] of bounds) {
    if (count >= wanted)
      return bound === Infinity ? below : below + ((bound - below) * (wanted - passed)) / (count - passed)
    ;[below, passed] = [bound, count]
  }
  return null
}
