import { decoded } from '../../shared/charset.ts'

/** Decodes bytes of a code page of Windows or DOS. An unknown code page is read as Windows-1252. */
export const decodeCodePage = (bytes: Uint8Array, codePage: number): string => {
  const upper = upperHalves[codePage]
  if (upper === undefined) return decoded(bytes, codePageNames[codePage] ?? 'windows-1252')
  return Array.from(bytes, (byte) => upper[byte - 128] ?? String.fromCharCode(byte)).join('')
}

/** The code page of a font's `\fcharset`; null means the document's code page. */
export const codePageOf = (charset: number): number | null => charsets[charset] ?? null

/** Code pages by the numbers of character sets. */
const charsets: Readonly<Record<number, number>> = {
  ...{ 77: 10000, 254: 437, 255: 850 },
  ...{ 128: 932, 129: 949, 134: 936, 136: 950 },
  ...{ 161: 1253, 162: 1254, 163: 1258, 177: 1255, 178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250 },
}

/** The characters from 128 on of code pages of DOS, which no decoder of the platform knows. */
const upperHalves: Readonly<Record<number, string>> = {
  437: 'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\xa0',
  850: 'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\xad±‗¾¶§÷¸°¨·¹³²■\xa0',
}

/** Names of decoders by the numbers of code pages; Windows-1252 and what resembles it have none. */
export const codePageNames: Readonly<Record<number, string>> = {
  866: 'ibm866',
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  950: 'big5',
  ...Object.fromEntries([874, 1250, 1251, 1253, 1254, 1255, 1256, 1257, 1258].map((page) => [page, `windows-${page}`])),
  10000: 'macintosh',
  20866: 'koi8-r',
  21866: 'koi8-u',
  ...Object.fromEntries([2, 3, 4, 5, 6, 7, 8, 9, 13, 15].map((part) => [28590 + part, `iso-8859-${part}`])),
  ...{ 50220: 'iso-2022-jp', 50221: 'iso-2022-jp', 50222: 'iso-2022-jp' },
  ...{ 51932: 'euc-jp', 51936: 'gbk', 51949: 'euc-kr', 54936: 'gb18030' },
  65001: 'utf-8',
}
