import t from 'tap'
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
  const it = made()
  if (it.kind !== 'retrieval') return t.fail('is retrieval')
  const asked: unknown[] = []
  const search = async (...said: readonly unknown[]): Promise<readonly Hit[]> => {
    asked.push(said)
    return Array.from({ length: 7 }, (_, at) => ({
      fileId: `file_${at}`,
      snippet: `s${at}`,
      score: 1 - at / 10,
      page: at,
    }))
  }
  const run = (params: object) => it.run({ limit: 5, characters: 1400, ...params }, AbortSignal.timeout(1000), search)
  const first = { fileId: 'file_0', page: 0, snippet: 's0', score: 1 }
  t.match(await run({ query: 'herons' }), { results: [first], truncated: true })
  t.match(await run({ query: 'herons', fileIds: ['file_1'], limit: 20 }), { results: { length: 7 }, truncated: false })
  t.same(asked, [
    ['herons', undefined],
    ['herons', ['file_1']],
  ])
})
