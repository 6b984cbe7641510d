import { decoded } from '../../shared/charset.ts'

/** Decodes bytes of a Windows code page. An unknown code page is read as Windows-1252. */
export const decodeCodePage = (bytes: Uint8Array, codePage: number): string =>
  decoded(bytes, labels[codePage] ?? (/^(874|125\d)$/.test(`${codePage}`) ? `windows-${codePage}` : 'windows-1252'))

/** The code page of a font's `\fcharset`; null means the document's code page. */
export const codePageOf = (charset: number): number | null => charsets[charset] ?? null

/** Code pages of Windows by the numbers of character sets. */
const charsets: Readonly<Record<number, number>> = {
  77: 10000,
  128: 932,
  129: 949,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  163: 1258,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  222: 874,
  238: 1250,
}

/** Names of decoders by the numbers of code pages, where no name has the number. */
const labels: Readonly<Record<number, string>> = {
  866: 'ibm866',
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  950: 'big5',
  10000: 'macintosh',
  65001: 'utf-8',
}
