import t from 'tap'
import ts from 'typescript'
import { houseFigures } from './house-figures.ts'
import { floatingPromises, functionLengths, nonNullAssertions } from './lint.ts'

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

t.test('a function of more than 60 lines is found, unless it creates a plugin', (t) => {
  const body = (lines: number) => '{\n' + '  1\n'.repeat(lines - 2) + '}'
  const { file } = programOf(
    `const long = () => ${body(61)}\nconst fine = () => ${body(60)}\nconst it = { create: () => ${body(70)} }`,
  )
  t.same([...functionLengths(file)], [['test/spoiled.ts long', { lines: 61, line: 1 }]])
  t.end()
})

t.test('non-null assertions are counted, and stay below five in a thousand lines', async (t) => {
  const { file } = programOf('const it = [1]\nexport const sum = it[0]! + it.at(-1)!.valueOf() + (it[0] ?? 0)')
  t.equal(nonNullAssertions(file), 2)
  const { nonNullPerThousand, mostNonNull } = await houseFigures()
  t.ok(nonNullPerThousand < 5, `${nonNullPerThousand}, most of them in ${mostNonNull[0]?.file}`)
})
