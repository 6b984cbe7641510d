import t from 'tap'
import { detectEncoding } from '../../../plugins/shared/detect-encoding.ts'
import document from '../../../plugins/readers/document.ts'
import { conform } from '../../contracts/contract.ts'
import { reader } from '../../contracts/reader.ts'
import { file, made, soon, stored } from './tried.ts'

t.test('contract', async (t) => {
  const good = { file: await stored('docx/harvest.docx'), says: 'sagt der Verband' }
  const broken = file('secret.docx', 'PK\x03\x04 and nothing more')
  const foreign = await stored('image/order.png')
  await conform(t, reader.contract, () => ({ reader: made(document), good, broken, foreign }))
})

t.test('a file without another reader is read as text', async (t) => {
  const reader = made(document)
  t.equal(reader.lastResort, true)
  t.ok(reader.fits(file('plan.unheard-of', 'words')))
  const { sections } = await reader.read(file('plan.unheard-of', 'words'), soon())
  t.same(sections, [{ heading: null, text: 'words', page: null }])
})

t.test('cells and options are apart, whatever encloses them', async (t) => {
  for (const [page, text] of [
    ['<center><table></center><tr><td>0.46</td><td>0.2</td></table>', '0.46 0.2'],
    ['<div><td>1</td><th>2</th></div>', '1 2'],
    ['<p>One of <option>red</option><option>blue</option>', 'One of red blue'],
  ] as const) {
    const { sections } = await made(document).read(file('page.html', page), soon())
    t.equal(sections.map((section) => section.text.trim()).join(), text, page)
  }
})

t.test('two lines of an old code page are not taken for Chinese', (t) => {
  // "Straße öffnen" and "Grüne Äpfel", as code page 850 has them.
  const old = Buffer.from('Stra\xe1e \x94ffnen\r\nGr\x81ne \x8epfel\r\n', 'latin1')
  t.not(detectEncoding(old).name, 'gb18030')
  // "Hello, this is Chinese text: 中文 in iPhone手机, 我们 with words", in its own encoding.
  const chinese = Buffer.from('Chinese: \xd6\xd0\xce\xc4 in iPhone\xca\xd6\xbb\xfa, \xce\xd2\xc3\xc7 on', 'latin1')
  t.equal(detectEncoding(chinese).name, 'gb18030')
  t.end()
})
