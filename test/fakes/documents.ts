import { type Packed, zipOf } from './zip.ts'

/** What a Word document has beside its text. */
export const wordParts: readonly Packed[] = [
  {
    name: '[Content_Types].xml',
    content:
      '<Types><Override ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
  },
  {
    name: '_rels/.rels',
    content: '<Relationships><Relationship Id="r" Type="x/officeDocument" Target="word/document.xml"/></Relationships>',
  },
]

/** A Word document with that in its body. */
export const docx = (body: string): Uint8Array =>
  docxOf({ content: `<w:document><w:body>${body}</w:body></w:document>` })

/** One whose text is that file, whatever it is. */
export const docxOf = (document: Omit<Packed, 'name'>): Uint8Array =>
  zipOf([...wordParts, { ...document, name: 'word/document.xml' }])

/** A book with that in its manifest and its spine. */
export const epub = (items: string, spine: string, pages: readonly Packed[]): Uint8Array =>
  zipOf([
    { name: 'mimetype', content: 'application/epub+zip' },
    {
      name: 'META-INF/container.xml',
      content: '<container><rootfiles><rootfile full-path="OEBPS/p.opf"/></rootfiles></container>',
    },
    {
      name: 'OEBPS/p.opf',
      content: `<package><metadata><dc:title>Das Buch &amp; mehr</dc:title></metadata><manifest>${items}</manifest><spine>${spine}</spine></package>`,
    },
    ...pages,
  ])
