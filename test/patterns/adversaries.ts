import { type Part, readPattern } from './read-pattern.ts'

/** A text that grows: `head`, then `pump` again and again, then `tail`. */
export interface Adversary {
  readonly head: string
  readonly pump: string
  readonly tail: string
}

export const grown = ({ head, pump, tail }: Adversary, length: number): string =>
  head + pump.repeat(Math.ceil(length / pump.length)) + tail

const ascii = Array.from({ length: 127 }, (_, code) => String.fromCharCode(code)).filter((text) =>
  /[\t\n\r -~]/.test(text),
)
const letters = ascii.filter((text) => /[a-z0-9]/i.test(text))
/** Letters come first, so that samples are readable; others follow. */
const candidates = [
  ...letters,
  ...ascii.filter((text) => !letters.includes(text)),
  '\0',
  'é',
  '一',
  'あ',
  '\u00a0',
  '😀',
]

const partsOf = (ways: readonly (readonly Part[])[]): readonly Part[] =>
  ways.flat().flatMap((part) => [part, ...partsOf(part.ways)])

const taking = (source: string, flags: string): ((character: string) => boolean) => {
  const pattern = new RegExp(`^(?:${source})$`, flags.replace(/[gy]/g, ''))
  return (character) => pattern.test(character)
}

/** One character for each set of atoms that characters of the pattern belong to. */
const representatives = (atoms: readonly ((character: string) => boolean)[]): readonly string[] => {
  const kinds = new Map<string, string>()
  for (const character of candidates) {
    const kind = atoms.map((takes) => Number(takes(character))).join('')
    if (!kinds.has(kind)) kinds.set(kind, character)
  }
  return [...kinds.values()]
}

/** Texts that make a pattern look for long: its own loops many times, and an end that fits nothing. */
export const adversaries = (source: string, flags: string): readonly Adversary[] => {
  const ways = readPattern(source)
  const atoms = partsOf(ways).filter(({ kind, source: text }) => kind === 'atom' && !/^\\(?:\d|k<)/.test(text))
  const first = new Map(atoms.map(({ source: text }) => [text, candidates.find(taking(text, flags)) ?? ''] as const))
  const sampleOf = (part: Part): string => {
    const once = part.looks ? '' : part.kind === 'atom' ? (first.get(part.source) ?? '') : sequence(part.ways[0] ?? [])
    return once.repeat(Math.max(part.least, part.most === 1 || part.most === Infinity ? 1 : part.least))
  }
  const sequence = (parts: readonly Part[]): string => parts.map(sampleOf).join('')
  const heads = new Set([''])
  const pumps = new Set(representatives(atoms.map(({ source: text }) => taking(text, flags))))
  // Each line is a beginning.
  if (flags.includes('m')) for (const end of ['\n', '\r', '\u2028']) pumps.add(end)
  const visit = (parts: readonly Part[], before: string): void => {
    parts.forEach((part, at) => {
      const head = before + sequence(parts.slice(0, at))
      if (part.most > 8) heads.add(head)
      for (const way of part.ways) {
        if (part.most > 8) pumps.add(sequence(way))
        visit(way, head)
      }
    })
    pumps.add(sequence(parts))
    for (let at = 1; at < parts.length; at++) pumps.add(sequence(parts.slice(0, at)))
  }
  for (const way of ways) visit(way, '')
  return [...pumps]
    .filter((pump) => pump !== '')
    .flatMap((pump) => [...heads].flatMap((head) => ['\0', '!\n'].map((tail) => ({ head, pump, tail }))))
}
