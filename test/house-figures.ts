import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript-api'
import { countNodes, functionLengths, nonNullAssertions } from './lint.ts'

/** Sizes and habits of one file. */
interface FileFigures {
  readonly file: string
  readonly lines: number
  readonly commentLines: number
  readonly nonNull: number
  readonly any: number
  /** Lines of each function that is too long, by `file name`. */
  readonly longFunctions: Readonly<Record<string, number>>
}

export interface HouseFigures {
  readonly files: number
  readonly lines: number
  readonly medianLines: number
  /** Nine of ten files have at most so many lines. */
  readonly ninetiethLines: number
  /** Functions of more than 60 lines that create no plugin. */
  readonly longFunctions: number
  readonly nonNullPerThousand: number
  readonly any: number
  /** Lines with nothing but a comment, of all lines, in percent. */
  readonly commentPercent: number
  /** Files with the most non-null assertions first. */
  readonly mostNonNull: readonly FileFigures[]
  /** Lines of each function that is too long, by `file name`. */
  readonly functions: Readonly<Record<string, number>>
}

const tops = ['core', 'plugins', 'adapters']

/** Lines that hold nothing but a part of a comment. */
const commentLines = (text: string): number => {
  let inside = false
  return text.split('\n').filter((line) => {
    const bare = line.trim()
    const isComment = inside || bare.startsWith('//') || bare.startsWith('/*')
    if (bare.startsWith('/*')) inside = true
    if (bare.endsWith('*/')) inside = false
    return isComment
  }).length
}

export const fileFigures = (file: ts.SourceFile): FileFigures => ({
  file: file.fileName,
  lines: file.text.split('\n').length - 1,
  commentLines: commentLines(file.text),
  nonNull: nonNullAssertions(file),
  any: countNodes(file, (node) => node.kind === ts.SyntaxKind.AnyKeyword),
  longFunctions: Object.fromEntries([...functionLengths(file)].map(([name, { lines }]) => [name, lines])),
})

const sum = (figures: readonly FileFigures[], of: (figures: FileFigures) => number): number =>
  figures.reduce((all, figure) => all + of(figure), 0)

/** The figures of core, plugins and adapters. */
export const houseFigures = async (): Promise<HouseFigures> => {
  const names = await Promise.all(
    tops.map(async (top) => (await readdir(top, { recursive: true })).map((name) => join(top, name))),
  )
  const sources = names.flat().filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
  const figures = await Promise.all(
    sources.map(async (name) =>
      fileFigures(ts.createSourceFile(name, await readFile(name, 'utf8'), ts.ScriptTarget.ES2023, true)),
    ),
  )
  const functions: Readonly<Record<string, number>> = Object.assign(
    {},
    ...figures.map((figure) => figure.longFunctions),
  )
  const lengths = figures.map(({ lines }) => lines).sort((one, other) => one - other)
  const lines = sum(figures, (figures) => figures.lines)
  return {
    files: figures.length,
    lines,
    medianLines: lengths[Math.floor(lengths.length / 2)] ?? 0,
    ninetiethLines: lengths[Math.floor(lengths.length * 0.9)] ?? 0,
    longFunctions: Object.keys(functions).length,
    nonNullPerThousand: (1000 * sum(figures, (figures) => figures.nonNull)) / lines,
    any: sum(figures, (figures) => figures.any),
    commentPercent: (100 * sum(figures, (figures) => figures.commentLines)) / lines,
    mostNonNull: figures.toSorted((one, other) => other.nonNull - one.nonNull).slice(0, 10),
    functions,
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { mostNonNull, functions: _, ...figures } = await houseFigures()
  const round = (value: number): number => Math.round(value * 10) / 10
  for (const [name, value] of Object.entries(figures)) process.stdout.write(`${name}: ${round(value)}\n`)
  for (const { file, nonNull } of mostNonNull) process.stdout.write(`${nonNull} non-null assertions in ${file}\n`)
}
