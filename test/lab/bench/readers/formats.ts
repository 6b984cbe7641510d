import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { documentsOf, folder, type Format, formats, type Sampled } from './documents.ts'
import { ourText } from './ours.ts'
import { type Peer, peers } from './peers.ts'
import { NotInstalled } from './program.ts'
import { type Shares, sharesOf, type Texts, type Within } from './shares.ts'

export const ours = 'sealgate'

const within: Partial<Record<Format, Within>> = { xlsx: 'line', ods: 'line', xls: 'cell' }

/** A reader that is behind the first by less than this is as good. */
const asGood = 0.005

/** A table for each format, and with `each` a line for each file: the share of words, and of runs of five words, that at least two others agree on. */
export async function* byFormat(wanted: readonly Format[] = formats, most = 60, each = false): AsyncGenerator<string> {
  for (const format of wanted) {
    const files = await documentsOf(format, most)
    const sums = new Map<string, Shares[]>()
    let judged = 0
    const { texts: read, missing } = await textsOf(files, format)
    for (const [at, texts] of read.entries()) {
      const shares = sharesOf(texts, within[format] ?? 'text')
      if (each) console.log(files[at]!.path, JSON.stringify(shares))
      // A file counts where every reader can be judged by two others.
      const all = Object.entries(shares).flatMap(([name, share]) => (share === null ? [] : [[name, share] as const]))
      if (all.length < Object.keys(shares).length) continue
      judged++
      for (const [name, shares] of all) sums.set(name, [...(sums.get(name) ?? []), shares])
    }
    yield `${format}: ${judged} of ${files.length} files`
    yield* table(sums)
    for (const sentence of missing) yield `  ${sentence}`
  }
}

const table = (sums: ReadonlyMap<string, readonly Shares[]>): readonly string[] => {
  const rows = [...sums].map(([name, all]) => ({
    name,
    words: mean(all.map(({ words }) => words)),
    runs: mean(all.map(({ runs }) => runs)),
  }))
  const best = { words: Math.max(...rows.map(({ words }) => words)), runs: Math.max(...rows.map(({ runs }) => runs)) }
  const lines = rows.map(({ name, words, runs }) => {
    const isBehind = name === ours && (words < best.words - asGood || runs < best.runs - asGood)
    return `  ${name.padEnd(18)} words ${words.toFixed(3)}  runs of five ${runs.toFixed(3)}${isBehind ? '  BEHIND' : ''}`
  })
  return lines
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

interface AllTexts {
  /** Of each file, in order. */
  readonly texts: readonly Texts[]
  /** A sentence for each program that is not installed, or reads none of the files. */
  readonly missing: readonly string[]
}

/** What each reader makes of each file. A program that is not installed, or reads none of them, takes no part. */
const textsOf = async (files: readonly Sampled[], format: Format): Promise<AllTexts> => {
  const texts: Record<string, string | null>[] = files.map(() => ({}))
  const missing: string[] = []
  for (const [at, { bytes }] of files.entries()) texts[at]![ours] = await ourText(`file.${format}`, bytes)
  for (const [name, peer] of Object.entries(peers[format])) {
    try {
      const read = await remembered(name, peer, files, format)
      if (files.every(({ hash }) => read(hash) === null)) missing.push(`${name} reads none of the files`)
      else for (const [at, { hash }] of files.entries()) texts[at]![name] = read(hash)
    } catch (fault) {
      if (!(fault instanceof NotInstalled)) throw fault
      missing.push(fault.message)
    }
  }
  return { texts, missing }
}

/** Others read a file once; a later run finds their text in the folder of the bench. A program that fails is asked again. */
const remembered = async (name: string, peer: Peer, files: readonly Sampled[], format: Format) => {
  const place = join(folder, 'read', `${name.replace('/', '-')}-${format}`)
  mkdirSync(place, { recursive: true })
  const pathOf = (hash: string) => join(place, `${hash}.json`)
  const unread = files.filter(({ hash }) => !existsSync(pathOf(hash)))
  const texts = unread.length === 0 ? [] : await peer(unread, format)
  const fresh = new Map(unread.map(({ hash }, at) => [hash, texts[at] ?? null]))
  if (texts.some((text) => text !== null))
    for (const [hash, text] of fresh) writeFileSync(pathOf(hash), JSON.stringify(text))
  return (hash: string): string | null => {
    const text = fresh.get(hash)
    return text === undefined ? JSON.parse(readFileSync(pathOf(hash), 'utf8')) : text
  }
}
