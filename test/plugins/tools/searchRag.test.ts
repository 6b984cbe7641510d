import t from 'tap'
import * as v from 'valibot'
import { use } from '../../../core/plugin.ts'
import { type Hit, Tool } from '../../../core/ports/tool.ts'
import searchRag from '../../../plugins/tools/searchRag.ts'
import { conform } from '../../contracts/contract.ts'
import { tool } from '../../contracts/tool.ts'
import { fitted } from '../../fitted.ts'

const made = () => fitted(use(searchRag)).supply({ tools: Tool }).tools[0]!

t.test('contract', (t) =>
  conform(t, tool.contract, () => ({ tool: made(), good: { params: { query: 'herons' } }, bad: null })),
)

t.test('gives the best that were found, and says when there were more', async (t) => {
  const tool = made()
  if (tool.kind !== 'retrieval') return t.fail('is retrieval')
  const asked: unknown[] = []
  const search = async (...given: readonly unknown[]): Promise<readonly Hit[]> => {
    asked.push(given)
    return Array.from({ length: 7 }, (_, at) => ({
      fileId: `file_${at}`,
      snippet: `s${at}`,
      score: 1 - at / 10,
      page: at,
    }))
  }
  const run = (params: object) => tool.run({ limit: 5, characters: 1400, ...params }, AbortSignal.timeout(1000), search)
  const first = { fileId: 'file_0', page: 0, snippet: 's0', score: 1 }
  t.match(await run({ query: 'herons' }), { results: [first], truncated: true })
  t.match(await run({ query: 'herons', fileIds: ['file_1'], limit: 20 }), { results: { length: 7 }, truncated: false })
  t.same(asked, [
    ['herons', undefined, { characters: 1400 }],
    ['herons', ['file_1'], { characters: 1400 }],
  ])
})

t.test('keeps a search to files by their name and time, whose last day belongs to it', async (t) => {
  const tool = made()
  if (tool.kind !== 'retrieval') return t.fail('is retrieval')
  const asked: unknown[] = []
  const search = async (...given: readonly unknown[]): Promise<readonly Hit[]> => (asked.push(given[2]), [])
  const run = (params: object) =>
    tool.run({ query: 'herons', limit: 5, characters: 9_000, ...params }, AbortSignal.timeout(1000), search)
  await run({ name: 'report', from: '2026-03-01', to: '2026-03-31' })
  await run({ from: '2026-03-01T08:00:00+02:00', to: '2026-03-01T09:30:00Z' })
  t.same(asked, [
    { name: 'report', from: Date.UTC(2026, 2, 1), to: Date.UTC(2026, 3, 1), characters: 9_000 },
    { from: Date.UTC(2026, 2, 1, 6), to: Date.UTC(2026, 2, 1, 9, 30), characters: 9_000 },
  ])
  await t.rejects(run({ to: '2026-02-30' }), { message: 'The request has an unreal day', validator: { to: String } })
  for (const from of ['yesterday', '2026-03-01T08:00:00', '01.03.2026'])
    t.notOk(v.safeParse(tool.params, { query: 'herons', from }).success, from)
})

t.test('puts the passages of each file together, the file with the best one first', async (t) => {
  const tool = made()
  if (tool.kind !== 'retrieval') return t.fail('is retrieval')
  const created = Date.UTC(2026, 2, 1)
  const search = async (): Promise<readonly Hit[]> =>
    ['b', 'a', 'b'].map((fileId, at) => ({
      fileId,
      title: fileId,
      created,
      snippet: `s${at}`,
      score: 1 - at / 10,
      page: at,
    }))
  const params = { query: 'herons', limit: 5, characters: 1400, byFile: true }
  const of = (fileId: string) => ({ fileId, title: fileId, created: '2026-03-01T00:00:00.000Z' })
  const passage = (at: number) => ({ page: at, heading: null, snippet: `s${at}`, score: 1 - at / 10 })
  t.same(await tool.run(params, AbortSignal.timeout(1000), search), {
    files: [
      { ...of('b'), passages: [passage(0), passage(2)] },
      { ...of('a'), passages: [passage(1)] },
    ],
    truncated: false,
  })
})
