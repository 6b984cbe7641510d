import { readFile } from 'node:fs/promises'
import t from 'tap'
import type { Language } from '../../../../plugins/sealed/retrieval/common-words.ts'
import { searchIndex, languageOf, languagesOf } from '../../../../plugins/sealed/retrieval/search-index.ts'
import { atOnce } from '../../../../plugins/shared/work-in-turns.ts'
import { formOf } from '../../../../plugins/sealed/retrieval/words.ts'

/** Article 1 of the Universal Declaration of Human Rights, and forms of words with one stem. */
const spoken: Readonly<Record<Language, { readonly text: string; readonly forms: readonly string[] }>> = JSON.parse(
  await readFile('test/plugins/sealed/retrieval/spoken.json', 'utf8'),
)

/**
 * Sentences of the German constitution, which as a law is nobody's property, by the number of their article.
 * Words of the questions stand in the article in another form, joined with others, or apart.
 */
const { articles, questions } = JSON.parse(await readFile('test/plugins/sealed/retrieval/basic-law.json', 'utf8')) as {
  readonly articles: Readonly<Record<string, string>>
  readonly questions: readonly (readonly [query: string, article: string])[]
}

t.test('a text is heard in its language', async (t) => {
  for (const [language, { text }] of Object.entries(spoken)) t.equal(languageOf(text), language)
  t.equal(languageOf('const a = 12; // 4711'), null)
  t.equal(languageOf('Der Rok 2026'), null, 'few words leave it open')
  t.same(atOnce(languagesOf([spoken.de.text, 'B17 | 12,50', spoken.en.text, spoken.de.text])), ['de', 'de', 'en', 'de'])
  t.same(atOnce(languagesOf(['B17'])), ['en'])
  t.same(
    atOnce(languagesOf(['Die Todesstrafe ist abgeschafft.'])),
    ['de'],
    'fewer words are enough where there are no others',
  )
})

t.test('the forms of a word have one stem in its language', async (t) => {
  for (const [language, { forms }] of Object.entries(spoken) as [Language, (typeof spoken)[Language]][])
    for (const line of forms) {
      const stems = line.split(' ').map((word) => formOf(word, language))
      t.equal(new Set(stems).size, 1, `${language}: ${line} have ${stems.join(', ')}`)
    }
  t.equal(formOf('connections', 'ru'), 'connect', 'Latin letters are English among others')
})

const placed = (text: string) => [{ passage: { text, heading: null, page: null }, vector: null }]

const indexOf = (texts: Readonly<Record<string, string>>) => {
  const index = searchIndex()
  for (const [id, text] of Object.entries(texts)) atOnce(index.put(id, placed(text)))
  return index
}

const firstIn = (index: ReturnType<typeof searchIndex>, query: string): string | undefined =>
  atOnce(index.search({ query, vector: null, most: 1 }))[0]?.fileId

t.test('German questions find their article by other forms, and by parts and wholes of joined words', async (t) => {
  const law = indexOf(articles)
  const wrong = questions.filter(([query, article]) => firstIn(law, query) !== article)
  t.same(wrong, [], `${questions.length - wrong.length} of ${questions.length}`)
})

t.test(
  'a word is no part of another that is hardly longer, nor is a short one of a word with an unknown rest',
  async (t) => {
    const index = indexOf({ a: `Die Antworten, Transporte und die Lattenzäune sind da. ${spoken.de.text}` })
    t.equal(firstIn(index, 'Zaun'), 'a')
    for (const query of ['Antwortenden', 'Orte']) t.equal(firstIn(index, query), undefined, query)
  },
)

t.test('questions in a language find files in it among files in others', async (t) => {
  const all = indexOf(Object.fromEntries(Object.entries(spoken).map(([language, { text }]) => [language, text])))
  atOnce(all.put('th', placed('มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ')))
  atOnce(all.put('ja', placed('猫は魚を食べる。すべての人間は自由である。')))
  atOnce(all.put('year', placed('في عام ٢٠٢٦ كان كل شيء على ما يرام من أن إلى')))
  const asked = {
    ...{
      de: 'Würden eines Menschens',
      fr: 'un être humain égal en droit',
      es: 'el derecho y la razón',
      ru: 'друг и разум',
    },
    ...{ it: 'diritto e ragione', ar: 'الحق والكرامه', th: 'อิสระ', ja: '猫', year: '2026' },
  }
  for (const [language, query] of Object.entries(asked)) t.equal(firstIn(all, query), language, query)
})
