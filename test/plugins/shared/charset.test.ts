import '../../fakes/unwatched.ts'
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { readDocument } from '../../../plugins/readers/document.ts'
import { decodeText } from '../../../plugins/readers/document/text-plain.ts'
import { readSheets } from '../../../plugins/readers/spreadsheet.ts'
import { decodeBytes, decodePage } from '../../../plugins/shared/charset.ts'

const folder = 'test/vectors/files/encodings'
const texts = JSON.parse(readFileSync(`${folder}/texts.json`, 'utf8')) as Readonly<Record<string, string>>
const soon = () => AbortSignal.timeout(20_000)

t.test('the encoding of a text is found, stated or not', async (t) => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.txt') && name !== 'sources.txt')
  t.equal(files.length, 35)
  for (const name of files) {
    const { text, encoding } = decodeBytes(readFileSync(`${folder}/${name}`), '')
    t.equal(text.normalize('NFC').replace('\ufeff', ''), texts[name.split('.')[0]!], name)
    t.ok(encoding.confidence > 0 && encoding.confidence <= 1, `${name}: ${encoding.name}, ${encoding.confidence}`)
  }
})

t.test('a stated encoding is taken, unless the bytes contradict it', async (t) => {
  const bytes = Buffer.of(0xe9, 0x20, 0xe8)
  const read = (mime: string) => readDocument({ name: 'note.txt', mime, bytes }, soon())
  for (const [charset, text] of [
    ['iso-8859-1', 'é è'],
    ['windows-1251', 'й и'],
    ['"KOI8-R"', 'И Х'],
    ['ibm866', 'щ ш'],
  ] as const) {
    const { sections, encoding } = await read(`text/plain; charset=${charset}`)
    t.match(sections, [{ text }], charset)
    t.equal(encoding?.confidence, 1, 'and is sure')
  }
  t.not((await read('text/plain; charset=utf-8')).encoding?.name, 'utf-8', 'these bytes are no UTF-8')
  const stated = await readSheets({ name: 'a.csv', mime: 'text/csv; charset=koi8-r', bytes }, soon())
  t.match(stated, { encoding: { name: 'koi8-r', confidence: 1 }, sheets: [{ rows: [['И Х']] }] })
})

t.test('a broken byte in UTF-8 leaves the rest of the text as it is', (t) => {
  const german = 'Grüße aus Köln, schöne Straße, fünf Äpfel.'
  const damaged = Buffer.concat([Buffer.from(german), Buffer.of(0xfc), Buffer.from(' Ende')])
  for (const [type, kind] of [
    ['', 'text'],
    ['', 'page'],
    ['text/html; charset=utf-8', 'page'],
  ] as const)
    t.match(decodeBytes(damaged, type, kind), { text: `${german}\ufffd Ende`, encoding: { name: 'utf-8' } }, type)
  const mixed = Buffer.concat([Buffer.from('Köln, '), Buffer.from('schöne Straße, fünf Äpfel', 'latin1')])
  t.not(decodeBytes(mixed, '', 'text').encoding.name, 'utf-8', 'other encodings break most of their letters')
  t.end()
})

t.test('a page that is cut within a character has the characters before it', (t) => {
  const bytes = Buffer.from('aé€😀é')
  for (let end = 1; end <= bytes.length; end++) {
    const cut = bytes.subarray(0, end)
    const { text, encoding } = decodeBytes(cut, 'text/html;charset=utf-8')
    t.same([text, encoding.name], [new TextDecoder().decode(cut, { stream: true }), 'utf-8'], `${end} bytes`)
  }
  t.end()
})

t.test('a text over the limit is cut between two characters of UTF-8', (t) => {
  const long = Buffer.from(`${'a'.repeat(9_999_999)}é, and so on`)
  t.same(decodeText(long, '').encoding, { name: 'utf-8', confidence: 1 })
  t.end()
})

t.test('Chinese and Korean are read with all characters that browsers know', (t) => {
  // 你好，镕㐁€ in GB 18030, under the older names of its parts.
  const chinese = Buffer.from('c4e3bac3a3ace9468139ef3080', 'hex')
  for (const label of ['gb2312', 'gbk', 'gb18030'])
    t.equal(decodePage(chinese, `text/html; charset=${label}`), '你好，镕㐁€', label)
  const korean: Readonly<Record<string, string>> = {
    b0a1: '가',
    '8c63': '똠',
    '8141': '갂',
    a0fe: '좤',
    c652: '힣',
    a2e6: '€',
    a1a1: '\u3000',
  }
  for (const label of ['euc-kr', 'ks_c_5601-1987', 'windows-949'])
    for (const [bytes, text] of Object.entries(korean))
      t.equal(decodePage(Buffer.from(`61${bytes}62`, 'hex'), `text/plain; charset=${label}`), `a${text}b`, bytes)
  const broken = Buffer.from('80ff41c65361fe', 'hex')
  t.equal(decodePage(broken, 'text/plain; charset=euc-kr'), '\ufffdA\ufffdSa\ufffd')
  t.end()
})

t.test('the characters of Hong Kong are read in Big5, stated or not', (t) => {
  const bytes = Buffer.from('ca5c925d9df6adbbb4e49defb5f3a5abb6529652a1419df2a14191c19df8', 'hex')
  for (const label of ['big5', 'big5-hkscs'])
    t.equal(decodePage(bytes, `text/html; charset=${label}`), '佢哋喺香港嘅街市買餸，𨋢，嚟啲', label)
  t.match(decodeBytes(bytes, ''), { text: '佢哋喺香港嘅街市買餸，𨋢，嚟啲', encoding: { name: 'big5' } })
  const edges = {
    fa40: '𠕇',
    fefe: '秔',
    '8e40': '𣻗',
    '8740': '䏰',
    c6a1: '①',
    c8fe: 'ɪ',
    '8862': 'Ê̄',
    '8140': '\ueeb8',
  }
  for (const [pair, text] of Object.entries(edges))
    t.equal(decodePage(Buffer.from(pair, 'hex'), 'text/plain; charset=big5'), text, pair)
  t.end()
})

t.test('a table of Chinese names is not taken for Greek', (t) => {
  // 姓名,城市 and 张伟,北京 and 王芳,上海 and so on, as Excel writes them in China.
  const rows = ['d0d5c3fb,b3c7cad0', 'd5c5ceb0,b1b1bea9', 'cdf5b7bc,c9cfbaa3', 'c0eec4c8,b9e3d6dd', 'd5d4c3f4,c9eedbda']
  const bytes = rows.map((row) =>
    row
      .split(',')
      .map((cell) => Buffer.from(cell, 'hex').toString('latin1'))
      .join(),
  )
  const { text, encoding } = decodeBytes(Buffer.from(bytes.join('\n'), 'latin1'), '')
  t.equal(encoding.name, 'gb18030')
  t.equal(text, '姓名,城市\n张伟,北京\n王芳,上海\n李娜,广州\n赵敏,深圳')
  t.end()
})
