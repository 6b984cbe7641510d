/** The two files of a new reader, by their paths. */
export const reader: Readonly<Record<string, string>> = {
  'plugins/readers/recipe.ts': `import { Unreadable } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { Reader } from '../../core/ports/reader.ts'

export default plugin({
  port: Reader,
  name: 'recipe',
  create: (): Reader<'document'> => ({
    name: 'recipe',
    kind: 'document',
    fits: ({ name }) => name.endsWith('.recipe'),
    async read({ bytes }, signal, { characters = 100_000 } = {}) {
      signal.throwIfAborted()
      const [title, text] = new TextDecoder().decode(bytes).split('\\n---\\n')
      if (title === undefined || text === undefined) throw new Unreadable()
      const sections = [{ heading: title, text: text.slice(0, characters) }]
      const content = { format: 'recipe', title, sections, truncated: text.length > characters }
      return { content, sections: [{ ...sections[0]!, page: null }] }
    },
  }),
})
`,
  'test/plugins/readers/recipe.test.ts': `import t from 'tap'
import { use } from '../../../core/plugin.ts'
import { Reader } from '../../../core/ports/reader.ts'
import recipe from '../../../plugins/readers/recipe.ts'
import getTextDocumentContent from '../../../plugins/tools/getTextDocumentContent.ts'
import { Tool } from '../../../core/ports/tool.ts'
import { pluginNames } from '../../../adapters/production/config/load-plugin.ts'
import { conform } from '../../contracts/contract.ts'
import { reader } from '../../contracts/reader.ts'
import { fitted } from '../../fitted.ts'

const file = (name: string, text: string) => ({ id: 'file_1', name, mime: '', bytes: Buffer.from(text) })
const soup = file('soup.recipe', 'Soup\\n---\\nBoil the leeks for an hour.')
t.test('contract', (t) =>
  conform(t, reader.contract, () => ({
    reader: fitted(use(recipe)).supply({ readers: Reader }).readers[0]!,
    good: { file: soup, says: 'leeks' },
    broken: file('secret.recipe', 'Soup'),
    foreign: file('soup.txt', 'words'),
  })),
)
t.test('is found by its file, and a tool reads with it', async (t) => {
  t.ok(pluginNames('readers').includes('recipe'))
  const [tool] = fitted(use(recipe), use(getTextDocumentContent)).supply({ tools: Tool }).tools
  if (tool?.kind !== 'reads-file') throw new Error('It reads no file')
  t.match(await tool.run({ fileId: 'file_1' }, AbortSignal.timeout(1000), soup), { format: 'recipe', title: 'Soup' })
})
`,
}
