import t from 'tap'
import { type Block, titleOf } from '../../../../plugins/tools/createFileForUser/content.ts'

const heading = (level: 1 | 2 | 3, text: string): Block => ({ kind: 'heading', level, runs: [{ text }] })

t.test('the first heading of the highest level names the file', (t) => {
  t.equal(titleOf([heading(3, 'Preface'), heading(2, 'The herons'), heading(2, 'Their nests')]), 'The herons')
  t.equal(titleOf([]), null)
  t.end()
})

t.test('a file of any number of headings has a title', (t) => {
  const many = Array<Block>(300_000).fill(heading(2, 'A bird'))
  t.equal(titleOf([...many, heading(1, 'All birds')]), 'All birds')
  t.end()
})
