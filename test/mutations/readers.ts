import type { Changes } from './mutation.ts'

const search = 'test/core/sealed/retrieval/retrieval.test.ts'
const languages = 'test/core/sealed/retrieval/languages.test.ts'
const bounds = 'test/core/sealed/retrieval/search-bounds.test.ts'
const pictures = 'test/plugins/tools/imageDescribeAndCaptionFallback.test.ts'
const pdf = 'test/plugins/readers/pdf.test.ts'

export const readers: readonly Changes[] = [
  {
    file: 'core/sealed/retrieval/search-index.ts',
    test: search,
    changes: [
      {
        breaks: 'The words of a heading and of a file name count more than those of the text.',
        from: 'const timesInHeading = 3',
        to: 'const timesInHeading = 0',
      },
    ],
  },
  {
    file: 'core/sealed/retrieval/query.ts',
    test: search,
    changes: [
      {
        breaks: 'Words that every question has count less.',
        from: 'const commonWeight = 0.3',
        to: 'const commonWeight = 1',
      },
    ],
  },
  {
    file: 'core/sealed/retrieval/rank.ts',
    test: search,
    changes: [
      {
        breaks: 'A passage is found by its vector alone.',
        from: 'const vectorWeight = 0.4',
        to: 'const vectorWeight = 0',
      },
      {
        breaks: 'Words count more than vectors.',
        from: 'const vectorWeight = 0.4',
        to: 'const vectorWeight = 4',
      },
    ],
  },
  {
    file: 'core/sealed/retrieval/languages.ts',
    test: languages,
    changes: [
      {
        breaks: 'A text is heard in its language.',
        from: 'own.map((language) => language ?? usual)',
        to: "own.map(() => 'en')",
      },
      {
        breaks: 'A text that leaves its language open has that of its file.',
        from: 'own.map((language) => language ?? usual)',
        to: "own.map((language) => language ?? 'en')",
      },
      { breaks: 'Few words leave a language open.', from: 'const fewest = 4', to: 'const fewest = 1' },
    ],
  },
  {
    file: 'core/sealed/retrieval/compounds.ts',
    test: languages,
    changes: [
      {
        breaks: 'A word finds the words that it is joined in.',
        from: 'return [around, ...parts].filter',
        to: 'return [...parts].filter',
      },
      {
        breaks: 'A joined word finds its parts.',
        from: 'return [around, ...parts].filter',
        to: 'return [around].filter',
      },
      {
        breaks: 'A short word is no part of a word with an unknown rest.',
        from: '(word.length >= telling && (word',
        to: '(word.length >= shortest && (word',
      },
    ],
  },
  {
    file: 'core/sealed/retrieval/vocabulary.ts',
    test: languages,
    changes: [
      {
        breaks: 'A joined word is forgotten with the last file that has it.',
        from: '        else compounds.delete(word)\n',
        to: '',
      },
    ],
  },
  {
    file: 'core/sealed/retrieval/words.ts',
    test: languages,
    changes: [
      {
        breaks: 'A word of one Chinese or Japanese character is found.',
        from: '    if (wordlike.test(character)) hear(character, from, from + 1, true)\n',
        to: '',
      },
      {
        breaks: 'Words in Latin letters are English among others.',
        from: 'return light ?? (plain.test(word) ? stem(word) : word)',
        to: 'return light ?? word',
      },
    ],
  },
  {
    file: 'core/sealed/retrieval/fold.ts',
    test: languages,
    changes: [
      {
        breaks: 'Digits of Arabic are found as others.',
        from: '\n    .replace(arabicDigit, (it) => String(it.charCodeAt(0) & 0xf))',
        to: '',
      },
      { breaks: 'Vowel signs of Arabic make no other word.', from: '\\u064b-\\u065f', to: '' },
    ],
  },
  {
    file: 'core/sealed/retrieval/snippet.ts',
    test: bounds,
    changes: [
      {
        breaks: 'A long snippet shows what stands around a hit.',
        from: 'most <= longestSnippet && ',
        to: '',
      },
      {
        breaks: 'A snippet of the usual length stays under its heading.',
        from: 'most <= longestSnippet && ',
        to: 'most < 0 && ',
      },
      { breaks: 'Nearer passages come first around a hit.', from: 'one.far < other.far', to: 'one.far > other.far' },
    ],
  },
  {
    file: 'core/sealed/enclave/file-title.ts',
    test: bounds,
    changes: [
      {
        breaks: 'A file without a name has no part of it.',
        from: 'if (title === null) return false',
        to: 'if (title === null) return true',
      },
      { breaks: 'A name without a word finds no file.', from: "words !== '' && ", to: '' },
      { breaks: 'A number behind a dot is a part of a name.', from: '\\.[a-z]\\w{0,7}$', to: '\\.\\w{1,8}$' },
    ],
  },
  {
    file: 'plugins/tools/searchRag.ts',
    test: 'test/plugins/tools/searchRag.test.ts',
    changes: [
      { breaks: 'The last day belongs to the days that are asked for.', from: ' + (isDay(to) ? day : 0)', to: '' },
      { breaks: 'A day of no calendar is refused.', from: 'if (!isReal)', to: 'if (false)' },
    ],
  },
  {
    file: 'core/sealed/enclave/retrieval.ts',
    test: bounds,
    changes: [
      {
        breaks: 'A search keeps to the names that are asked for.',
        from: 'name === undefined || isTitled(library.titleOf(id), name)',
        to: 'true',
      },
      { breaks: 'The end of a time is outside of it.', from: 'created < to', to: 'created <= to' },
      { breaks: 'A search keeps to the times that are asked for.', from: 'created >= from', to: 'true' },
    ],
  },
  {
    file: 'core/sealed/enclave/retrieval.ts',
    test: 'test/core/sealed/retrieval/embedding-model.test.ts',
    changes: [
      {
        breaks: 'Without a named model search goes by words alone.',
        from: '  if (model === undefined) return { model: null, vectors: texts.map(() => null) }\n',
        to: '',
      },
    ],
  },
  {
    file: 'plugins/readers/pdf/pdf-text.ts',
    test: pdf,
    changes: [
      {
        breaks: 'Text whose characters the fonts do not tell is not taken for text.',
        from: 'const mostUnknown = 0.1',
        to: 'const mostUnknown = 1',
      },
    ],
  },
  {
    file: 'plugins/readers/pdf/pdf-cmaps.ts',
    test: pdf,
    changes: [
      {
        breaks: 'Numbers of glyphs are no text.',
        from: '      else if (!encoded.has(korean)) fonts.numbered = true\n',
        to: '',
      },
      {
        breaks: 'Korean fonts that are not embedded are read.',
        from: '  [0xac00, 0xd7a3],\n',
        to: '',
      },
    ],
  },
  {
    file: 'plugins/readers/pdf.ts',
    test: pdf,
    changes: [
      {
        breaks: 'Search finds the values of forms.',
        from: '      ...own(forms).map(({ name, value }) => `${name}: ${value}`),\n',
        to: '',
      },
    ],
  },
  {
    file: 'plugins/readers/pdf/pdf-lines.ts',
    test: pdf,
    changes: [{ breaks: 'Words that stand apart on a page stay apart.', from: "? ' ' : ''", to: "? '' : ''" }],
  },
  {
    file: 'plugins/readers/document/doc-characters.ts',
    test: 'test/plugins/readers/document/doc.test.ts',
    changes: [
      { breaks: 'Deleted words of a .doc are left out.', from: 'deleted: 0x0800', to: 'deleted: 0x0801' },
      {
        breaks: 'Hidden words of a .doc are told.',
        from: "if (kind === 'hidden') hidden.hide(part)",
        to: "if (kind !== 'hidden') hidden.hide(part)",
      },
      {
        breaks: 'Hidden words of a .doc that follow each other are one text.',
        from: 'hide: (text: string) => void open.push(text)',
        to: 'hide: (text: string) => (open.push(text), end())',
      },
      {
        breaks: 'Hidden lines of a .doc are texts of their own.',
        from: 'split(/[\\r\\x07\\x0c]/)',
        to: 'split(/[\\x07\\x0c]/)',
      },
      {
        breaks: 'Spans of hidden words that overlap give each word once.',
        from: 'const start = Math.max(from, end)',
        to: 'const start = from',
      },
    ],
  },
  {
    file: 'plugins/readers/document/doc-styles.ts',
    test: 'test/plugins/readers/document/doc.test.ts',
    changes: [
      {
        breaks: 'A style of a .doc hides words.',
        from: 'return (style) => hides(style, 0)',
        to: 'return (style) => hides(style, longest)',
      },
      {
        breaks: 'A style of a .doc hides what the style before it hides.',
        from: 'switched(own ?? 0x80, hides(before, depth + 1))',
        to: 'switched(own ?? 0x80, false)',
      },
      {
        breaks: 'Words of a .doc that undo the style of their paragraph are shown.',
        from: 'inherited : value === 1)',
        to: 'inherited : value !== 0)',
      },
      { breaks: 'A circle of styles ends.', from: 'depth < longest ? styles', to: 'depth < Infinity ? styles' },
    ],
  },
  {
    file: 'plugins/readers/document/doc-comments.ts',
    test: 'test/plugins/readers/document/doc.test.ts',
    changes: [
      {
        breaks: 'Comments of a .doc have authors.',
        from: 'author: author || null',
        to: 'author: author ? null : null',
      },
      {
        breaks: 'A text behind the end of the comments makes their list a broken one.',
        from: 'if (from > to || to > said.length)',
        to: 'if (from > to)',
      },
      {
        breaks: 'A text that ends before it begins makes the list of comments a broken one.',
        from: 'if (from > to || to > said.length)',
        to: 'if (to > said.length)',
      },
      {
        breaks: 'A comment without a reference has no author.',
        from: 'at < referred ? authors',
        to: 'at < Infinity ? authors',
      },
      {
        breaks: 'A name of an author ends within its list.',
        from: "names.push(end > list.length ? '' : shortened",
        to: "names.push(end < 0 ? '' : shortened",
      },
    ],
  },
  {
    file: 'plugins/readers/document/eml.ts',
    test: 'test/plugins/readers/document/mail.test.ts',
    changes: [
      { breaks: 'A mail has few parts.', from: 'const mostParts = 1_000', to: 'const mostParts = 1_000_000' },
      { breaks: 'Mails within mails are few.', from: 'const mostDepth = 20', to: 'const mostDepth = 2_000' },
    ],
  },
  {
    file: 'plugins/readers/document/msg.ts',
    test: 'test/plugins/readers/document/mail.test.ts',
    changes: [
      {
        breaks: 'A mail of Outlook tells who gets a copy.',
        from: 'number === kinds.cc[0] || number === kinds.bcc[0] ? number : kinds.to[0]',
        to: 'number === kinds.bcc[0] ? number : kinds.to[0]',
      },
      {
        breaks: 'A recipient whom a mail was sent to again keeps its kind.',
        from: '.readUInt32LE(0) ?? 0) & 15',
        to: '.readUInt32LE(0) ?? 0) & -1',
      },
      { breaks: 'Recipients stand in their order.', from: '    .sort()\n', to: '' },
      {
        breaks: 'The directory of a company is no mail address.',
        from: "addresses.find((it) => it.includes('@'))",
        to: "addresses.find((it) => it !== '')",
      },
      {
        breaks: 'Copies are told by their names where no recipients are listed.',
        from: ".join(', ') || said(shown)",
        to: ".join(', ')",
      },
    ],
  },
  {
    file: 'plugins/readers/slides/ppt.ts',
    test: 'test/plugins/readers/slides/ppt.test.ts',
    changes: [
      { breaks: 'Hidden slides of a .ppt are marked.', from: 'readUInt16LE(10) & 4', to: 'readUInt16LE(10) & 8' },
    ],
  },
  {
    file: 'plugins/readers/document/rtf-beside.ts',
    test: 'test/plugins/readers/shared/beside.test.ts',
    changes: [
      {
        breaks: 'Hidden text of an RTF is marked.',
        from: '      if (isHidden) hidden += text\n',
        to: "      if (isHidden) hidden += ''\n",
      },
    ],
  },
  {
    file: 'plugins/readers/shared/xml-elements.ts',
    test: 'test/plugins/readers/shared/xml-elements.test.ts',
    changes: [
      {
        breaks: 'XML whose elements are closed by another name is refused.',
        from: 'name !== inside.name || path.length === 1',
        to: 'path.length === 1',
      },
      {
        breaks: 'XML has one root.',
        from: " || more !== undefined) throw new Error('XML has",
        to: ") throw new Error('XML has",
      },
      { breaks: 'An attribute of XML stands once.', from: 'element.attributes.has(key)', to: 'false' },
      { breaks: 'XML with a bare ampersand is refused.', from: 'if (bareAmpersand.test(text))', to: 'if (false)' },
      {
        breaks: 'A comment does not cut a text of XML.',
        from: 'const before = joins ?',
        to: 'const before = !joins && joins ?',
      },
      { breaks: 'Elements of XML have a bounded depth.', from: 'const mostDepth = 500', to: 'const mostDepth = 5_000' },
    ],
  },
  {
    file: 'plugins/readers/data/data-parquet-lz4.ts',
    test: 'test/plugins/readers/data/lz4.test.ts',
    changes: [
      { breaks: 'A block of LZ4 copies only what is there.', from: 'back === 0 || back > to || ', to: '' },
      { breaks: 'A block of LZ4 fills its size.', from: 'if (to !== length)', to: 'if (to > length)' },
      {
        breaks: 'Blocks of LZ4 with their lengths are read.',
        from: 'if (pieces === null)',
        to: 'if (pieces !== undefined)',
      },
    ],
  },
  {
    file: 'plugins/tools/imageDescribeAndCaptionFallback/faces.ts',
    test: pictures,
    changes: [
      { breaks: 'Small faces are counted.', from: '...parts]', to: ']' },
      { breaks: 'A face is counted once.', from: 'if (!kept.some(', to: 'if (true || !kept.some(' },
      { breaks: 'The face of a cat is not counted.', from: 'const leastScore = 0.75', to: 'const leastScore = 0.001' },
    ],
  },
  {
    file: 'plugins/tools/imageDescribeAndCaptionFallback/codes-job.ts',
    test: pictures,
    changes: [{ breaks: 'Several codes of a picture are read.', from: 'const most = 20', to: 'const most = 1' }],
  },
  {
    file: 'plugins/tools/imageDescribeAndCaptionFallback/image-codes.ts',
    test: pictures,
    changes: [
      {
        breaks: 'A picture is described where the reader of codes is missing.',
        from: 'error instanceof Unconfigured || ',
        to: '',
      },
      {
        breaks: 'What else goes wrong while codes are read is passed on.',
        from: 'if (error instanceof Unconfigured || error instanceof Unreadable) return null',
        to: 'if (error !== null) return null',
      },
    ],
  },
  {
    file: 'plugins/readers/shared/compound.ts',
    test: 'test/plugins/readers/document/doc.test.ts',
    changes: [
      {
        breaks: 'A stream takes no more small sectors than there are.',
        from: 'if (parts.length * 64 > small.length) throw new Unreadable()',
        to: '',
      },
    ],
  },
  {
    file: 'plugins/shared/unreadable-reason.ts',
    test: 'test/plugins/shared/run-apart.test.ts',
    changes: [
      {
        breaks: 'A parser that takes the memory of a refused file ends without a crash.',
        from: 'if (bytes.length < 8) return null',
        to: '',
      },
    ],
  },
  {
    file: 'plugins/readers/spreadsheet/sheets-guard.ts',
    test: 'test/plugins/readers/spreadsheet.test.ts',
    changes: [
      {
        breaks: 'Paragraphs in paragraphs are bounded.',
        from: 'again > 2 * content.length',
        to: 'again < 0',
      },
      {
        breaks: 'Counted spaces are bounded.',
        from: 'spaces > mostRepeated || ',
        to: '',
      },
      {
        breaks: 'An empty paragraph begins no text.',
        from: "else if (!tag.endsWith('/>')) began",
        to: 'else began',
      },
      {
        breaks: 'A list of sheets without its length is not read.',
        from: 'stream.readUInt16LE(at + 2) < 2',
        to: 'stream.readUInt16LE(at + 2) < 0',
      },
    ],
  },
]
