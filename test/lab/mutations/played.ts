import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import type { Mutation } from './mutation.ts'

export type Verdict = 'killed' | 'killed by time' | 'ALIVE' | 'NO CODE' | 'UNFIT'

/** The last verdict on each mutation, by its mark. */
export type Played = ReadonlyMap<string, Verdict>

const kept = 'test/lab/mutations/played.json'
const page = 'docs/mutations.md'

/** The same for the same change, wherever its file has moved. */
export const markOf = ({ from, to, breaks }: Mutation): string =>
  createHash('sha256')
    .update(JSON.stringify([from, to, breaks]))
    .digest('hex')
    .slice(0, 12)

export const readPlayed = async (): Promise<Played> =>
  new Map(Object.entries(JSON.parse(await readFile(kept, 'utf8')) as Readonly<Record<string, Verdict>>))

const room = (file: string): string => file.split('/').slice(0, 2).join('/')

const count = <T>(all: readonly T[], counts: (item: T) => boolean): number => all.filter(counts).length

/** The report, with a line for each room, each mutation that lives and each that keeps all promises. */
export const reportOf = (mutations: readonly Mutation[], played: Played): string => {
  const rows = mutations.map((mutation) => ({
    ...mutation,
    verdict: mutation.equivalent === undefined ? (played.get(markOf(mutation)) ?? 'unplayed') : 'equivalent',
  }))
  const rooms = [...new Set(rows.map(({ file }) => room(file)))].sort()
  const sums = (name: string, all: typeof rows) => {
    const killed = count(all, ({ verdict }) => verdict.startsWith('killed'))
    const [equivalent, unplayed] = ['equivalent', 'unplayed'].map((text) =>
      count(all, ({ verdict }) => verdict === text),
    )
    return `| ${name} | ${killed} | ${all.length - killed - equivalent! - unplayed!} | ${equivalent} | ${unplayed} |`
  }
  const living = rows.filter(({ verdict }) => !/^(killed.*|equivalent|unplayed)$/.test(verdict))
  const equal = rows.filter(({ verdict }) => verdict === 'equivalent')
  return [
    '# Mutations',
    '',
    'Each mutation changes the code so that it breaks one promise, and its test has to fail. `npm run mutate` plays them and writes this page; `npm run mutate -- --new` plays those without a verdict.',
    '',
    '| room | killed | alive | equivalent | not played |',
    '|---|---|---|---|---|',
    ...rooms.map((name) =>
      sums(
        `\`${name}\``,
        rows.filter(({ file }) => room(file) === name),
      ),
    ),
    sums('all', rows),
    '',
    ...(living.length === 0 ? [] : ['**Alive.**', '']),
    ...living.map(({ verdict, file, breaks }) => `* ${verdict}: \`${file}\`: ${breaks}`),
    ...(living.length === 0 ? [] : ['']),
    '**Equivalent.** The changed code keeps every promise, for the reason that is given.',
    '',
    ...equal.map(({ file, breaks, equivalent }) => `* \`${file}\`: “${breaks}” ${equivalent}`),
    '',
  ].join('\n')
}

/** Keeps verdicts on mutations that are still there, and writes the report. */
export const writePlayed = async (mutations: readonly Mutation[], played: Played): Promise<void> => {
  const marks = mutations.filter(({ equivalent }) => equivalent === undefined).map(markOf)
  const known = [...new Set(marks)].sort().flatMap((mark) => {
    const verdict = played.get(mark)
    return verdict === undefined ? [] : [[mark, verdict] as const]
  })
  await writeFile(kept, `${JSON.stringify(Object.fromEntries(known), null, 2)}\n`)
  await writeFile(page, reportOf(mutations, played))
}
