import t from 'tap'
import { freePace } from '../../../../core/dialects/loop-time.ts'
import { hashOf, placeOf, postingsOf } from '../../../../plugins/sealed/retrieval/postings.ts'
import { bestFirst } from '../../../../plugins/sealed/retrieval/rank.ts'
import { searchIndex } from '../../../../plugins/sealed/retrieval/search-index.ts'
import { splitSections } from '../../../../plugins/sealed/retrieval/split.ts'
import { unitsOf } from '../../../../plugins/sealed/retrieval/text-units.ts'
import { type Work, atOnce, inTurns } from '../../../../plugins/shared/work-in-turns.ts'
import { turnsDuring } from '../../../turns-during.ts'

const words = 'The keeper of the lighthouse mended a lamp before the ferry left again'.split(' ')

/** Prose of one paragraph whose sentences have from two words to a dozen. */
const proseOf = (characters: number): string => {
  let text = ''
  for (let nth = 0; text.length < characters; nth++) text += `${words.slice(0, 2 + (nth % 11)).join(' ')} ${nth}. `
  return text.trim()
}

const section = (text: string) => ({ text, heading: null, page: null })

t.test('a long paragraph has the sentences that the segmenter finds in the whole of it', async (t) => {
  const text = proseOf(20_000)
  const whole = Array.from(new Intl.Segmenter('en', { granularity: 'sentence' }).segment(text), ({ segment }) =>
    segment.trim(),
  )
  const units = [...unitsOf(text, 1400)].flatMap((unit) =>
    typeof unit === 'number' ? [] : [text.slice(unit.start, unit.end)],
  )
  t.same(units, whole)
  t.ok(units.length > 400)
})

t.test('the segmenter sees little of a text at once', async (t) => {
  const { segment } = Intl.Segmenter.prototype
  const seen: number[] = []
  Intl.Segmenter.prototype.segment = function (text) {
    seen.push(text.length)
    return segment.call(this, text)
  }
  t.teardown(() => (Intl.Segmenter.prototype.segment = segment))
  for (const text of [proseOf(50_000), 'word '.repeat(10_000), 'w'.repeat(50_000)])
    atOnce(splitSections([section(text)]))
  t.ok(seen.length > 30)
  t.ok(Math.max(...seen) <= 4096)
})

t.test('no line is looked for beyond its block', async (t) => {
  const feeds = 'a\f'.repeat(50_000)
  let sought = 0
  const { indexOf } = String.prototype
  String.prototype.indexOf = function (this: string, ...given) {
    sought += this.length
    return indexOf.apply(this, given)
  }
  try {
    atOnce(splitSections([section(feeds)]))
  } finally {
    String.prototype.indexOf = indexOf
  }
  t.ok(sought <= 4 * feeds.length, `${sought} characters`)
})

t.test('texts are split, indexed and searched in turns of the loop', async (t) => {
  const chinese = Array.from({ length: 50_000 }, (_, at) => String.fromCodePoint(0x4e00 + ((at * 7919) % 20_000))).join(
    '',
  )
  const texts = { prose: proseOf(200_000), lines: 'a\n'.repeat(100_000), rows: ' a | b;\n'.repeat(20_000), chinese }
  const turnsOf = (work: Work<unknown>) => turnsDuring(() => inTurns(work, freePace()))
  for (const [name, text] of Object.entries(texts)) {
    const split = await turnsOf(splitSections([section(text)]))
    t.ok(split >= 5, `${split} turns to split ${name}`)
    const placed = atOnce(splitSections([section(text)])).map((passage) => ({ passage, vector: null }))
    const index = searchIndex()
    const indexed = await turnsOf(index.put('a', placed))
    t.ok(indexed >= 20, `${indexed} turns to index ${name}`)
    const searched = await turnsOf(index.search({ query: text.slice(0, 1000), vector: null, most: 20 }))
    t.ok(searched >= 1, `${searched} turns to search ${name}`)
  }
})

t.test('work ends when its caller has left', async (t) => {
  const leaving = new AbortController()
  let pieces = 0
  function* endless(): Work<never> {
    for (;;) {
      if (++pieces === 100) leaving.abort(new Error('The caller has left'))
      yield 1_000_000
    }
  }
  await t.rejects(inTurns(endless(), freePace(), leaving.signal), { message: 'The caller has left' })
  t.equal(pieces, 100)
})

t.test('places come best first, and of equal scores the earlier one', async (t) => {
  const scores = Float32Array.from({ length: 500 }, (_, at) => (at * 7919) % 23)
  const expected = [...scores.keys()]
    .filter((place) => scores[place]! > 0)
    .sort((one, other) => scores[other]! - scores[one]! || one - other)
  t.same([...bestFirst(scores)], expected)
  t.same([...bestFirst(new Float32Array(3))], [])
  t.same([...bestFirst(Float32Array.of(0, 2))], [1])
})

t.test('a word of a file stands under its hash with all its passages', async (t) => {
  const texts = Array.from({ length: 60 }, (_, row) =>
    Array.from({ length: 40 }, (_, at) => `w${(row * 31 + at * 17) % 97}`).join(' '),
  )
  const postings = atOnce(postingsOf(texts.map((text) => ({ fields: [{ text, times: 1 }], language: 'en' }))))
  t.same(postings.words, Uint32Array.from(postings.words).sort())
  for (const word of Array.from({ length: 97 }, (_, at) => `w${at}`)) {
    const expected = texts.flatMap((text, row) => {
      const count = text.split(' ').filter((own) => own === word).length
      return count === 0 ? [] : [[row, count]]
    })
    const place = placeOf(postings, hashOf(word))
    const [from, to] = [postings.starts[place]!, postings.starts[place + 1]!]
    const found = Array.from(postings.rows.subarray(from, to), (row, at) => [row, postings.counts[from + at]])
    t.same(found, expected, word)
  }
  t.equal(placeOf(postings, hashOf('elsewhere')), -1)
})
