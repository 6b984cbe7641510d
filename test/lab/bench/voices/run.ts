import { tellSpeakers } from '../../../../plugins/tools/shared/speakers.ts'
import { mixOf, type Mix, type Said, type Speaker } from './mix.ts'
import { speakersOnDebian } from './recordings.ts'

/** `npm run bench:voices`: who speaks when in mixes of real recordings, beside one voice for all and a coin for each turn. */
const turnsOfEach = 4

interface Heard {
  readonly expected: number
  readonly found: number
  /** The share of the heard speech that goes to the one who speaks, by the best naming of speakers. */
  readonly right: number
  /** The same where all is one voice. */
  readonly alone: number
  readonly confidence: number | null
}

const listened = async ({ wav, said: lines }: Mix): Promise<Heard> => {
  const { turns, guess } = await tellSpeakers(wav, AbortSignal.timeout(300_000))
  const speakers = [...new Set(lines.map(({ speaker }) => speaker))]
  const found = [...new Set(turns.map(({ speaker }) => speaker))]
  const shared = found.map((value) =>
    speakers.map((speaker) =>
      overlap(
        turns.filter((turn) => turn.speaker === value),
        lines.filter((line) => line.speaker === speaker),
      ),
    ),
  )
  const all = sum(shared.flat())
  const alone = Math.max(...speakers.map((_, at) => sum(shared.map((row) => row[at]!)))) / all
  return {
    expected: speakers.length,
    found: found.length,
    right: best(shared) / all,
    alone,
    confidence: guess.confidence,
  }
}

const overlap = (turns: readonly Omit<Said, 'speaker'>[], lines: readonly Said[]): number =>
  sum(
    turns.flatMap((one) =>
      lines.map((line) => Math.max(0, Math.min(one.end, line.end) - Math.max(one.start, line.start))),
    ),
  )

const sum = (numbers: readonly number[]): number => numbers.reduce((all, number) => all + number, 0)

/** The most that any assignment of rows to columns collects; each row and column is used once. */
const best = (rows: readonly (readonly number[])[], taken: ReadonlySet<number> = new Set()): number => {
  const [first, ...others] = rows
  if (first === undefined) return 0
  const left = best(others, taken)
  return first.reduce(
    (most, value, at) => (taken.has(at) ? most : Math.max(most, value + best(others, new Set([...taken, at])))),
    left,
  )
}

/** What a coin for each turn gets of two people: it is right in at least half of the turns by the better naming. */
const byCoin = (turns: number): number => {
  let expected = 0
  for (let heads = 0, ways = 1; heads <= turns; ways = (ways * (turns - heads)) / (heads + 1), heads++)
    expected += (ways * Math.max(heads, turns - heads)) / turns
  return expected / 2 ** turns
}

const speakers = await speakersOnDebian()
/** One of them speaks two languages. */
const personOf = ({ name }: Speaker): string => name.replace(/ \(.*/, '')
const both = (some: readonly Speaker[]): boolean => new Set(some.map(personOf)).size < some.length
const pairs = speakers
  .flatMap((one, at) => speakers.slice(at + 1).map((other) => [one, other]))
  .filter((speakers) => !both(speakers))
const threes = speakers
  .map((_, at) => [0, 2, 5].map((step) => speakers[(at + step) % speakers.length]!))
  .filter((speakers) => !both(speakers))
const chapters: Readonly<Record<string, readonly (readonly Speaker[])[]>> = {
  alone: speakers.map((speaker) => [speaker]),
  'two people': pairs,
  'three people': threes,
}
const all: Heard[] = []
for (const [chapter, mixes] of Object.entries(chapters)) {
  const heard: Heard[] = []
  for (const mix of mixes) {
    const line = await listened(mixOf(mix, turnsOfEach))
    heard.push(line)
    const { found, right, alone, confidence } = line
    console.log(
      `${mix.map(({ name }) => name).join(' + ')}: ${found} found, ${right.toFixed(2)} right (one voice ${alone.toFixed(2)}), sure ${confidence}`,
    )
  }
  all.push(...heard)
  const counted = heard.filter(({ expected, found }) => expected === found).length
  const mean = (of: (line: Heard) => number) => (sum(heard.map(of)) / heard.length).toFixed(3)
  const coin = chapter === 'two people' ? `, a coin for each turn ${byCoin(2 * turnsOfEach).toFixed(3)}` : ''
  console.log(
    `${chapter}: counted in ${counted} of ${heard.length}; ${mean(({ right }) => right)} right, one voice ${mean(({ alone }) => alone)}${coin}\n`,
  )
}

/** How sure it was where it was right, and where it was wrong. */
for (const [name, some] of [
  ['counted', all.filter(({ expected, found }) => expected === found)],
  ['miscounted', all.filter(({ expected, found }) => expected !== found)],
] as const)
  console.log(
    `${name}: ${some.length}, sure ${(sum(some.map(({ confidence }) => confidence ?? 0.5)) / some.length).toFixed(2)}`,
  )
