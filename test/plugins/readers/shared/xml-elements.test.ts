import '../../../fakes/unwatched.ts'
import fc from 'fast-check'
import { XMLValidator } from 'fast-xml-parser'
import t from 'tap'
import { type XmlElement, xmlElements } from '../../../../plugins/readers/shared/xml-elements.ts'

const pieces =
  '<a>|</a>|<b x="1">|</b>|<c/>|<d y=\'2&amp;3\' z="4"/>|text| |&amp;|&#65;|&#x42;|&foo;|&|<![CDATA[ <raw> & ]]>|' +
  '<!-- c -->|<?pi x?>|<é>|</é>|<a :b="1">|<a b>|<a b=1>|<a b="1" b="2">|<a b="1"c="2"/>|>|<|< a>|</a >|<a >|' +
  '<a\n x="1"\n>|<__proto__>|</__proto__>|<constructor/>|\r\n|<-/>|<1/>|<a.b-c:d/>|<!--|]]>|<![CDATA['
const content = fc.array(fc.constantFrom(...pieces.split('|')), { maxLength: 8 }).map((all) => all.join(''))

const taken = (text: string): boolean => {
  try {
    xmlElements(text)
    return true
  } catch {
    return false
  }
}

t.test('takes what another parser takes', (t) => {
  const seen = { taken: 0, refused: 0 }
  const same = (inside: string): boolean => {
    const text = `<r>${inside}</r>`
    const ours = taken(text)
    seen[ours ? 'taken' : 'refused']++
    return ours === (XMLValidator.validate(text) === true)
  }
  fc.assert(fc.property(content, same), { numRuns: 3_000 })
  t.ok(seen.taken > 300 && seen.refused > 300, JSON.stringify(seen))
  t.end()
})

t.test('gives content in order, with references decoded once', (t) => {
  const element = xmlElements(
    '<?xml version="1.0"?>\n<a b="&lt;&amp;lt;">x &#x26;amp;<!-- - -->y<![CDATA[&amp;]]><c/>z</a>\n',
  )
  const c: XmlElement = { name: 'c', attributes: new Map(), content: [] }
  t.same(element, { name: 'a', attributes: new Map([['b', '<&lt;']]), content: ['x &amp;y', '&amp;', c, 'z'] })
  t.end()
})

t.test('has one root, and elements of a bounded depth', (t) => {
  const nested = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth)
  t.ok(taken(nested(499)))
  for (const text of ['', 'text', '<a/><a/>', '<a/>text', '<a>', '</a>', '<a></b>', nested(501)]) t.notOk(taken(text), text.slice(0, 20)) // prettier-ignore
  t.end()
})
