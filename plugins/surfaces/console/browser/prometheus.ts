export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const line = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const label = /\b([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

const unescaped = (text: string): string =>
  text.replace(/\\(.)/g, (_, letter: string) => (letter === 'n' ? '\n' : letter))

const numberOf = (text: string): number => (text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text))

/** The samples of the text form that Prometheus reads; lines of another form are left out. */
export const samplesOf = (text: string): readonly Sample[] =>
  text.split('\n').flatMap((row) => {
    const [, name, labels = '', value] = line.exec(row) ?? []
    if (name === undefined || value === undefined) return []
    const pairs = [...labels.matchAll(label)].map(([, name = '', value = '']) => [name, unescaped(value)] as const)
    return [{ name, labels: Object.fromEntries(pairs), value: numberOf(value) }]
  })
