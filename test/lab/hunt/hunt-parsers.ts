import { availableParallelism } from 'node:os'
import { type CrashWatch, watchCrashes } from './crash-watch.ts'
import { chance } from './damage.ts'
import { type Kind, kinds } from './file-kinds.ts'
import { type End, type Hunted, playAlone, playAtOnce, playTogether } from './play-files.ts'

/** What became of the files of one kind. */
export interface Found {
  readonly kind: string
  readonly read: number
  readonly refused: number
  /** The seeds of files that did neither, with what happened. */
  readonly wrong: readonly string[]
  /** Ms of the slowest. */
  readonly slowest: number
}

/** The sums of one kind. */
export const foundOf = (kind: Kind, ends: readonly (readonly [seed: number, end: End])[]): Found => ({
  kind: kind.name,
  read: ends.filter(([, { end }]) => end === 'read').length,
  refused: ends.filter(([, { end }]) => end === 'refused').length,
  wrong: ends.flatMap(([seed, { end }]) => (end === 'read' || end === 'refused' ? [] : [`${seed}: ${end}`])),
  slowest: Math.max(0, ...ends.map(([, { ms }]) => ms)),
})

export const seedsOf = (kind: Kind, count: number, seed: number): readonly number[] =>
  Array.from({ length: count }, (_, at) => seed * 1_000_003 + kinds.indexOf(kind) * 100_003 + at)

/** The kinds of these names; all without a name. Throws for a name that no kind has. */
export const chosen = (named: readonly string[]): readonly Kind[] => {
  const missing = named.filter((text) => !kinds.some(({ name }) => name === text))
  if (missing.length > 0) throw new RangeError(`No such kinds: ${missing.join(', ')}`)
  return kinds.filter(({ name }) => named.length === 0 || named.includes(name))
}

/** Most files that share a process, and the bytes after which another file begins the next one. */
const most = { files: 50, bytes: 16 * 1024 * 1024 }

async function* groupsOf(of: readonly Kind[], count: number, seed: number): AsyncGenerator<readonly Hunted[], void> {
  let group: Hunted[] = []
  let size = 0
  for (const kind of of)
    for (const own of seedsOf(kind, count, seed)) {
      const bytes = await kind.make(chance(own))
      group.push({ kind, seed: own, bytes })
      size += bytes.length
      if (group.length < most.files && size < most.bytes) continue
      yield group
      group = []
      size = 0
    }
  if (group.length > 0) yield group
}

/** A part of the kinds, so that files of which there are few share a process with those of other kinds. */
const parted = (of: readonly Kind[], count: number): readonly (readonly Kind[])[] => {
  const size = Math.max(1, Math.floor(most.files / count))
  return Array.from({ length: Math.ceil(of.length / size) }, (_, at) => of.slice(at * size, (at + 1) * size))
}

/** So many files of each of these kinds. Those that share a process come first, and those that must be alone come last. */
const hunted = async (
  of: readonly Kind[],
  count: number,
  seed: number,
  watch: CrashWatch,
): Promise<readonly Found[]> => {
  const ends = new Map(of.map((kind) => [kind, [] as (readonly [number, End])[]]))
  const suspects: Hunted[] = []
  const note = (files: readonly Hunted[], those: readonly (End | null)[]): void => {
    for (const [at, file] of files.entries()) {
      const end = those[at] ?? null
      if (end === null) suspects.push(file)
      else ends.get(file.kind)!.push([file.seed, end])
    }
  }
  const [parsed, decoded] = [true, false].map((own) => of.filter(({ parser }) => (parser.job !== null) === own))
  const shared = groupsOf(parsed!, count, seed)
  const lane = async () => {
    for await (const group of shared) note(group, await playTogether(group))
  }
  await Promise.all(Array.from({ length: availableParallelism() }, lane))
  await watch.taken()
  for await (const group of groupsOf(decoded!, count, seed)) note(group, await playAtOnce(group, watch))
  for (const file of suspects) ends.get(file.kind)!.push([file.seed, await playAlone(file, watch)])
  return of.map((kind) => foundOf(kind, ends.get(kind)!))
}

/** So many files of each of these kinds through the parsers. */
export async function* huntParsers(count: number, seed: number, of: readonly Kind[]): AsyncGenerator<Found, void> {
  const watch = watchCrashes()
  try {
    for (const some of parted(of, count)) yield* await hunted(some, count, seed, watch)
  } finally {
    watch.stop()
  }
}
