import t from 'tap'
import { stem } from '../../../../plugins/sealed/retrieval/stem.ts'
import { eachWord } from '../../../../plugins/sealed/retrieval/words.ts'

const wordsOf = (text: string): readonly string[] => {
  const words: string[] = []
  eachWord(text, (word, start, end, part) => {
    if (!part) words.push(word)
    t.ok(start >= 0 && end <= text.length && start < end)
  })
  return words
}

t.test('a dictionary cuts the words of scripts without spaces', async (t) => {
  t.same(wordsOf('ชาวสวนบอก pears 2026'), ['ชาวสวน', 'บอก', 'pear', '2026'])
  t.ok(wordsOf('ខ្ញុំស្រឡាញ់អ្នក').length > 1, 'Khmer')
})

t.test('Chinese and Japanese are heard in pairs', async (t) => {
  t.same(wordsOf('收成好'), ['收成', '成好'])
})

t.test('the forms of an English word have one stem', async (t) => {
  const forms = [
    ['connect', 'connected', 'connecting', 'connection', 'connections'],
    ['relate', 'relates', 'related', 'relating'],
    ['hop', 'hops', 'hopped', 'hopping'],
    ['pony', 'ponies'],
    ['caress', 'caresses', 'caressed'],
    ['modify', 'modifies', 'modified', 'modifying'],
    ['agree', 'agreed', 'agrees'],
    ['hopeful', 'hopefulness'],
    ['generalization', 'generalizations', 'generalize'],
  ]
  for (const [first, ...others] of forms) for (const other of others) t.equal(stem(other), stem(first!), other)
  t.same(['sky', 'is', 'sing', 'bed', 'news', 'roll'].map(stem), ['sky', 'is', 'sing', 'bed', 'new', 'roll'])
})
