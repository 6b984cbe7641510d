/** The two files of a new tool, by their paths. */
export const tool: Readonly<Record<string, string>> = {
  'plugins/tools/countWords.ts': `import * as v from 'valibot'
import { plugin } from '../../core/plugin.ts'
import { Tool } from '../../core/ports/tool.ts'

const params = v.object({ text: v.string() })

export default plugin({
  port: Tool,
  name: 'countWords',
  create: (): Tool<typeof params> => ({
    name: 'countWords',
    description: 'Counts the words of a text.',
    kind: 'simple',
    params,
    async run({ text }, signal) {
      signal.throwIfAborted()
      return { words: text.split(/\\s+/).filter(Boolean).length }
    },
  }),
})
`,
  'test/plugins/tools/countWords.test.ts': `import t from 'tap'
import { use } from '../../../core/plugin.ts'
import { Tool } from '../../../core/ports/tool.ts'
import countWords from '../../../plugins/tools/countWords.ts'
import { conform } from '../../contracts/contract.ts'
import { tool } from '../../contracts/tool.ts'
import { fitted } from '../../fitted.ts'

const made = () => fitted(use(countWords)).supply({ tools: Tool }).tools[0]!
t.test('contract', (t) => conform(t, tool.contract, () => ({ tool: made(), good: { params: { text: 'a b' } }, bad: null })))
t.test('counts', async (t) => {
  const it = made()
  if (it.kind === 'simple') t.same(await it.run({ text: ' one two  three ' }, AbortSignal.timeout(1000)), { words: 3 })
})
`,
}
