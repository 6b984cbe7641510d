import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import ts from 'typescript-api'
import { houseFigures } from './house-figures.ts'
import { longFunctions } from './lint-long-functions.ts'
import { deadExports, publicFiles } from './lint-dead-exports.ts'
import { emptyNames, floatingPromises, functionLengths, nonNullAssertions, spreadsOfOpen } from './lint.ts'

/** Of the whole house, which is read once. */
const figures = houseFigures()

/** A program of one file. */
const programOf = (text: string) => {
  const name = 'test/spoiled.ts'
  const options: ts.CompilerOptions = { target: ts.ScriptTarget.ES2023, types: [] }
  const host = ts.createCompilerHost(options, true)
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.ES2023, true)
  const { getSourceFile } = host
  host.getSourceFile = (path, ...rest) => (path === name ? file : getSourceFile(path, ...rest))
  return { file, program: () => ts.createProgram([name], options, host) }
}

t.test('a promise that floats is found', (t) => {
  const { file, program } = programOf(`
    declare const send: () => Promise<number>
    declare const maybe: { close?(): Promise<void> | void }
    export const all = async () => {
      send()
      send().then(() => 1)
      send().finally(() => 1)
      maybe.close?.()
      await send()
      void send()
      send().catch(() => 1)
      send().then(() => 1, () => 2)
      send().catch(() => 1).finally(() => 1)
      const kept = send()
      return kept
    }
  `)
  t.same(
    floatingPromises(file, program().getTypeChecker()).map(({ line }) => line),
    [5, 6, 7, 8],
  )
  t.end()
})

t.test('a copy of an object whose members nobody knows is found', (t) => {
  const { file, program } = programOf(`
    interface IncomingHttpHeaders { readonly [name: string]: string | undefined }
    declare const open: { readonly [name: string]: unknown }
    declare const headers: IncomingHttpHeaders
    declare const sent: { readonly model: string } & { readonly [name: string]: unknown }
    declare const known: { readonly model: string; readonly names: readonly string[] }
    export const all = [
      { ...open },
      { model: 'a', ...sent },
      { ...known },
      [...known.names],
      { ...(known.model === 'a' && open) },
      { ...headers },
    ]
    export const restOf = ({ model, ...rest }: typeof sent) => rest
    export const othersOf = ({ host, ...others }: IncomingHttpHeaders) => others
    export const namesOf = ({ model, ...named }: typeof known) => named
    export const [first, ...more] = known.names
  `)
  t.same(spreadsOfOpen(file, program().getTypeChecker()), [8, 9, 12, 13, 15, 16])
  t.end()
})

t.test('a function of more than 60 lines is found, unless it creates a plugin', (t) => {
  const body = (lines: number) => '{\n' + '  1\n'.repeat(lines - 2) + '}'
  const { file } = programOf(
    `const long = () => ${body(61)}\nconst fine = () => ${body(60)}\nconst plugin = { create: () => ${body(70)} }`,
  )
  t.same([...functionLengths(file)], [['test/spoiled.ts long', { lines: 61, line: 1 }]])
  t.end()
})

t.test('a name that says nothing is found', (t) => {
  const { file } = programOf(`
    const it = [1]
    export const sum = (its: number[]) => its[0]
    export const shown = { it: it.map((one) => one) }
    interface Kept { readonly it: number }
    console.log(it.it, sum)
  `)
  t.same(emptyNames(file), [2, 3, 5])
  t.end()
})

t.test('non-null assertions are counted, and stay below five in a thousand lines', async (t) => {
  const { file } = programOf('const all = [1]\nexport const sum = all[0]! + all.at(-1)!.valueOf() + (all[0] ?? 0)')
  t.equal(nonNullAssertions(file), 2)
  const { nonNullPerThousand, mostNonNull } = await figures
  t.ok(nonNullPerThousand < 5, `${nonNullPerThousand}, most of them in ${mostNonNull[0]?.file}`)
})

t.test('one place alone has the type any: the port of tools, whose parameters only a tool knows', async (t) => {
  t.ok((await figures).any <= 1)
})

t.test('an exported value that no other file imports is found', async (t) => {
  const sources = new Map([
    ['core/one.ts', 'export const used = 1\nexport const dead = 2\nexport interface Shape {}\nexport const read = 3'],
    ['core/two.ts', "import { used } from './one.ts'\nconst { read } = await import('./three.ts')\nexport { used }"],
    ['core/three.ts', 'export const read = 1'],
    ['core/ports/four.ts', 'export const open = 1'],
  ])
  const isPublic = publicFiles({ './ports/*': './dist/core/ports/*.js', './two': './dist/core/two.js', './no': null })
  t.same(deadExports(sources, isPublic), ['core/one.ts dead', 'core/one.ts read'])
})

/** The sources of these folders by path. */
const sourcesOf = async (tops: readonly string[]): Promise<ReadonlyMap<string, string>> => {
  const listed = await Promise.all(
    tops.map(async (top) => (await readdir(top, { recursive: true })).map((name) => join(top, name))),
  )
  const names = listed.flat().filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
  return new Map(await Promise.all(names.map(async (name) => [name, await readFile(name, 'utf8')] as const)))
}

t.test('no export is dead', async (t) => {
  const { exports } = JSON.parse(await readFile('package.json', 'utf8')) as {
    exports: Parameters<typeof publicFiles>[0]
  }
  const sources = await sourcesOf(['core', 'plugins', 'adapters', 'examples', 'test'])
  t.same(deadExports(sources, publicFiles(exports)), [])
})

t.test('no further function has more than 60 lines, and no listed one has more or fewer than it had', async (t) => {
  t.same((await figures).functions, longFunctions)
})

t.test('the list of long functions never grows', (t) => {
  const lengths = Object.values(longFunctions)
  t.ok(lengths.length <= 1, `${lengths.length} functions`)
  t.ok(lengths.every((lines) => lines <= 62))
  t.end()
})
