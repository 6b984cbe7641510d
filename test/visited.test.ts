import { readFile } from 'node:fs/promises'
import t from 'tap'
import { traced } from './lab/tracer/hooks.ts'
import { chatTraces } from './lab/tracer/run.ts'

/** The most files and returns of a chat. A bound only falls. */
const most = {
  whole: { files: 82, returns: 150 },
  stream: { files: 96, returns: 950 },
}

t.test('a chat visits few files, and the page lists them', { timeout: 120_000 }, async (t) => {
  const traces = await chatTraces()
  const page = await readFile('docs/lifecycle.md', 'utf8')
  for (const kind of ['whole', 'stream'] as const) {
    const { files, returns } = traces[kind]
    t.ok(files.length <= most[kind].files, `${kind}: ${files.length} files`)
    t.ok(returns <= most[kind].returns, `${kind}: ${returns} returns`)
    t.same(
      files.filter((file) => !page.includes(`\`${file}\``)),
      [],
      `${kind}: npm run trace`,
    )
  }
})

t.test('every kind of function is marked, and the code does the same', async (t) => {
  const text = [
    'const one = (a) => a + 1',
    'const two = (a) => ({ b: (c) => c * a })',
    'function* three() { yield one(1) }',
    'class Four { #five = 5; get five() { return this.#five } }',
    'globalThis.sum = [...three(), two(2).b(3), new Four().five]',
  ].join('\n')
  const visits: string[] = []
  Object.assign(globalThis, { visited: (file: string) => visits.push(file) })
  await import(`data:text/javascript,${encodeURIComponent(traced(text, 'four.ts'))}`)
  t.same((globalThis as { readonly sum?: unknown }).sum, [2, 6, 5])
  t.equal(visits.length, 5, 'a visit for each function that runs')
})
