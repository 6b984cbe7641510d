import iconv from 'iconv-lite'

/** Pairs of bytes in a row of Big5, of which 63 come before the gap, and rows whose private characters follow each other. */
const [row, before] = [157, 63]
const rows = [0xfa, 5, 0x8e, 19, 0x81, 13, 0xc6, 3]

/** The pair of bytes that Node reads as a private character. Those of the last rows begin behind the gap. */
const pairOf = (character: string): Buffer => {
  let at = character.charCodeAt(0) - 0xe000
  for (let next = 0; next < rows.length; next += 2) {
    const [first = 0, count = 0] = rows.slice(next)
    if (first === 0xc6) at += before
    if (at < count * row) {
      const place = at % row
      return Buffer.of(first + Math.floor(at / row), place + (place < before ? 0x40 : 0xa1 - before))
    }
    at -= count * row
  }
  return Buffer.alloc(0)
}

/** Text of Big5 as browsers read it: with the characters of Hong Kong, four of which have their accent apart. */
export const withHongKong = (text: string): string =>
  text.replace(/[\ue000-\uf848]/g, (own) => {
    const found = iconv.decode(pairOf(own), 'big5-hkscs')
    return found === '' || found.includes('\ufffd') ? own : found
  })
