import type { Changes } from './mutation.ts'

const test = 'test/plugins/tools/createFileForUser/made-files.test.ts'
const parts = 'plugins/tools/createFileForUser'

export const madeFiles: readonly Changes[] = [
  {
    file: 'plugins/tools/createFileForUser/pdf-tables.ts',
    test: 'test/plugins/tools/createFileForUser/pdf-tables.test.ts',
    changes: [{ breaks: 'No column of a page has a width below zero.', from: 'if (rest <= 0)', to: 'if (rest === 1)' }],
  },
  {
    file: `${parts}/clean.ts`,
    test,
    changes: [
      {
        breaks: 'Marks that turn the order of a line never stand in a made file.',
        from: '\\u202a-\\u202e\\u2066-\\u2069',
        to: '',
      },
      { breaks: 'Controls never stand in a made file.', from: '\\0-\\x08\\x0e-\\x1f', to: '\\0' },
    ],
  },
  {
    file: `${parts}/office.ts`,
    test,
    changes: [{ breaks: 'Markup in the content stays text.', from: '/[&<>"]/g', to: '/[&>"]/g' }],
  },
  {
    file: `${parts}/inline.ts`,
    test,
    changes: [
      {
        breaks: 'A link of a made file leads to the web or to mail.',
        from: "sign === '[' && followed.test(url)",
        to: "sign === '['",
      },
    ],
  },
  {
    file: `${parts}/xlsx.ts`,
    test,
    changes: [
      {
        breaks: 'A program that edits a cell with a formula in it leaves it text.',
        from: '/^[=+\\-@\\t]/.test(text) ? style.quoted',
        to: 'false ? style.quoted',
      },
      { breaks: 'A number with a leading zero stays text.', from: '-?(?:0|[1-9]\\d{0,14})', to: '-?\\d{1,15}' },
      { breaks: 'A cell holds a text as it was written.', from: 'escaped(unescaped(text))', to: 'escaped(text)' },
    ],
  },
  {
    file: `${parts}/pdf-fonts.ts`,
    test,
    changes: [
      {
        breaks: 'A PDF never loses a letter in silence.',
        from: "if (code === undefined) throw new Refused('characters')",
        to: "if (code === undefined) return '?'",
      },
    ],
  },
  {
    file: `${parts}/delimited.ts`,
    test,
    changes: [
      {
        breaks: 'A table of made files is bounded.',
        from: "if (columns * rows.length > mostCells) throw new Refused('cells')",
        to: '',
      },
    ],
  },
  {
    file: 'plugins/readers/spreadsheet/sheet-dates.ts',
    test: 'test/plugins/tools/getSpreadsheetContent.test.ts',
    changes: [
      {
        breaks: 'An empty cell in the format of a date shows no time.',
        from: 'parts.D === 0 && tellsTime(format)',
        to: 'parts.D === 0',
      },
    ],
  },
  {
    file: 'plugins/readers/spreadsheet/sheets-part.ts',
    test: 'test/plugins/tools/getSpreadsheetContent.test.ts',
    changes: [
      {
        breaks: 'A range of a sheet holds its own rows alone.',
        from: 'if (number < top || number > bottom) continue',
        to: 'if (number < top) continue',
      },
      {
        breaks: 'A range of a sheet begins with its first column.',
        from: 'slice(left - 1, right)',
        to: 'slice(0, right)',
      },
    ],
  },
  {
    file: 'plugins/readers/spreadsheet/sheets-text.ts',
    test: 'test/plugins/tools/getSpreadsheetContent.test.ts',
    changes: [
      {
        breaks: 'The rows behind the beginning of a long text can be asked for.',
        from: '        if (place < (range?.top ?? 1) || place > (range?.bottom ?? place)) return\n',
        to: '',
      },
    ],
  },
  {
    file: 'plugins/tools/getTextDocumentContent/pieces.ts',
    test: 'test/plugins/tools/getTextDocumentContent.test.ts',
    changes: [
      { breaks: 'A caller that reads on misses nothing.', from: 'at = end\n', to: 'at = end + 1\n' },
      {
        breaks: 'A long section can be read in parts.',
        from: 'const mostPieceCharacters = 40_000',
        to: 'const mostPieceCharacters = 4_000_000',
      },
    ],
  },
  {
    file: 'plugins/tools/getFileContentOCR.ts',
    test: 'test/plugins/tools/getFileContentOCR.test.ts',
    changes: [
      {
        breaks: 'OCR reads in the languages that are asked for.',
        from: '.see(file, mostPages, signal, languages)',
        to: '.see(file, mostPages, signal)',
      },
    ],
  },
  {
    file: 'plugins/shared/pictures/ocr-languages.ts',
    test: 'test/plugins/tools/getFileContentOCR.test.ts',
    changes: [
      {
        breaks: 'A language is a name and never a path.',
        from: '/^[a-z]{3}(?:_[a-z]{3,4}){0,2}$/',
        to: '/^.{1,10}$/',
      },
    ],
  },
]
