import t from 'tap'
import { cutSections } from '../../../plugins/shared/cut-sections.ts'

const sections = (count: number, text: string) => Array.from({ length: count }, () => ({ heading: 'h', text }))

t.test('a short section counts a hundred characters, and a longer one its own', async (t) => {
  for (const [text, kept] of [
    ['', 10],
    ['a', 10],
    ['a'.repeat(99), 10],
    ['a'.repeat(199), 5],
  ] as const) {
    const cut = cutSections(sections(1_000, text), 1_000)
    t.equal(cut.sections.length, kept, `${text.length} characters`)
    t.ok(cut.truncated)
  }
})

t.test('what fits is whole', async (t) => {
  const short = [{ heading: 'h', text: 'a few words' }]
  t.same(cutSections(short, 20), { sections: short, truncated: false }, 'also where less than a section is allowed')
  t.same(cutSections(short, 5), { sections: [{ heading: 'h', text: 'a fe' }], truncated: true })
  t.same(cutSections(sections(10, 'a'), 1_000), { sections: sections(10, 'a'), truncated: false })
})
