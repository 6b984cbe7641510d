import t from 'tap'
import { searchIndex } from '../../../../plugins/sealed/retrieval/search-index.ts'
import { splitSections } from '../../../../plugins/sealed/retrieval/split.ts'
import { recall, stageOf } from '../../../lab/bench/retrieval/measure.ts'
import { wildQuestions } from '../../../lab/bench/retrieval/wild/questions.ts'
import { atOnce } from '../../../../plugins/shared/work-in-turns.ts'

const section = (text: string, heading: string | null = null, page: number | null = null) => ({ text, heading, page })

t.test('passages keep to their sections, and nothing of a text is left out', async (t) => {
  const words = Array.from({ length: 400 }, (_, at) => `word${at}.`).join(' ')
  const passages = atOnce(splitSections([section(words, 'First', 1), section('A short end.', 'Second', 2)]))
  t.ok(passages.length > 3, `${passages.length} passages`)
  t.ok(passages.every(({ heading, page }) => (heading === 'First' ? page === 1 : page === 2)))
  for (let at = 0; at < 400; at++)
    if (!passages.some(({ text }) => text.includes(`word${at}.`))) t.fail(`word${at} is nowhere`)
  t.same(atOnce(splitSections([])), [])
  t.same(
    atOnce(splitSections([section('  \n ')]))
      .map(({ text }) => text.trim())
      .filter(Boolean),
    [],
  )
})

t.test('a giant word and a text without spaces are cut all the same', async (t) => {
  const [giant, chinese] = ['x'.repeat(5_000), '灯塔看守人修好了铜灯。'.repeat(300)]
  for (const text of [giant, chinese])
    t.ok(atOnce(splitSections([section(text)])).every((passage) => passage.text.length <= 1_400))
})

t.test('a collection forgets, replaces, and keeps to the files that are asked for', async (t) => {
  const index = searchIndex()
  const put = (id: string, text: string) => atOnce(index.put(id, [{ passage: section(text, null, 3), vector: null }]))
  put('a', 'The heron waits by the weir.')
  put('b', 'A heron is grey.')
  const ids = (query: string, fileIds?: readonly string[]) =>
    atOnce(index.search({ query, vector: null, most: 5, ...(fileIds && { fileIds }) })).map(({ fileId }) => fileId)
  t.same([...ids('heron')].sort(), ['a', 'b'])
  t.same(ids('heron', ['b']), ['b'])
  t.match(atOnce(index.search({ query: 'weir', vector: null, most: 5 }))[0], {
    fileId: 'a',
    page: 3,
    snippet: /weir/,
  })
  put('a', 'Something else.')
  t.notOk(ids('weir').includes('a'), 'what was replaced is not found')
  index.remove('b')
  t.notOk(ids('heron').includes('b'))
  t.ok(index.size > 0)
})

t.test('known items are found among 312 documents by words alone', { timeout: 120_000 }, async (t) => {
  const plan = { seed: 20, half: 1, facts: 2, around: 0, asked: 1 } as const
  const stage = await stageOf(plan, async (texts) => texts.map(() => new Float32Array(0)))
  t.ok(stage.documents >= 300, `${stage.documents} documents`)
  const [literal, paraphrased] = [recall(stage, stage.literal, 'words'), recall(stage, stage.paraphrased, 'words')]
  t.ok(literal >= 0.98, `literal ${literal.toFixed(3)} of ${stage.literal.length}`)
  t.ok(paraphrased >= 0.55, `paraphrases ${paraphrased.toFixed(3)} of ${stage.paraphrased.length}`)
})

t.test('the questions of the bench are locked, and two halves of more than three hundred', async (t) => {
  const [tuning, measured] = [wildQuestions(0), wildQuestions(1)]
  t.ok(tuning.length + measured.length > 300)
  t.notOk(measured.some(({ query }) => tuning.some((question) => question.query === query)))
})

const lines = (texts: readonly string[], heading: string | null = null) =>
  texts.map((text) => ({ passage: section(text, heading), vector: null }))

t.test('words of a heading, and of the name of a file, count more than words in the text', async (t) => {
  const index = searchIndex()
  atOnce(index.put('text', lines(['A note on herons and on the weir.', 'Nothing.'])))
  atOnce(index.put('heading', lines(['They wait.', 'Nothing.'], 'Herons')))
  atOnce(index.put('title', lines(['They stand there.', 'Nothing.']), { title: 'Storks' }))
  atOnce(index.put('more text', lines(['Storks nest on this roof.', 'Nothing.'])))
  const first = (query: string) => atOnce(index.search({ query, vector: null, most: 5 }))[0]
  t.match(first('heron'), { fileId: 'heading', heading: 'Herons', title: null })
  t.match(first('stork'), { fileId: 'title', title: 'Storks' })
})

t.test('words that every question has count less', async (t) => {
  const index = searchIndex()
  atOnce(index.put('a', lines(['How do you do? How do I do it? What is what, and why do you do it?'])))
  atOnce(index.put('b', lines(['The lantern.', 'The heron.', 'The weir.', 'The ferry.'])))
  t.equal(atOnce(index.search({ query: 'how do I do the lantern', vector: null, most: 1 }))[0]?.fileId, 'b')
})

t.test('a passage is found by its vector alone, and the words count more', async (t) => {
  const index = searchIndex()
  const vectors = Array.from({ length: 40 }, (_, at) => Float32Array.of(Math.cos(1 + at / 90), Math.sin(1 + at / 90)))
  const passages = vectors.map((vector, at) => ({
    passage: section(at === 39 ? 'The heron.' : `Line ${at}.`, `${at}`),
    vector,
  }))
  atOnce(index.put('a', passages))
  atOnce(index.put('near', [{ passage: section('Nothing like it.'), vector: Float32Array.of(1, 0) }]))
  const ask = (query: string) => atOnce(index.search({ query, vector: Float32Array.of(1, 0), most: 2 }))
  t.equal(ask('zebra')[0]?.fileId, 'near')
  t.match(ask('heron')[0], { snippet: 'The heron.' })
})
