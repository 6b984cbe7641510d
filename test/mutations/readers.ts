import type { Changes } from './mutation.ts'

const search = 'test/core/sealed/retrieval/retrieval.test.ts'
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
    changes: [{ breaks: 'Deleted words of a .doc are left out.', from: "0x0800: 'deleted'", to: "0x0801: 'deleted'" }],
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
]
