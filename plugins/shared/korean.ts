const between = (byte: number, first: number, last: number): boolean => byte >= first && byte <= last

/** From this lead byte on, EUC-KR has characters of its own. */
const firstOld = 0xa1

/** Whether two bytes are a syllable that EUC-KR lacks, and that Windows adds. */
const isAdded = (lead: number, trail: number): boolean =>
  between(trail, 0x41, 0x5a) || between(trail, 0x61, 0x7a) || between(trail, 0x81, lead < firstOld ? 0xfe : 0xa0)

/** The character of each pair of bytes; 0 for none. */
const characters = (): Uint16Array => {
  const table = new Uint16Array(0x10000)
  const known = new Set<number>()
  const decoder = new TextDecoder('euc-kr')
  for (let lead = firstOld; lead <= 0xfe; lead++) {
    const row = Uint8Array.from({ length: 94 * 3 }, (_, at) => [lead, 0xa1 + Math.floor(at / 3), 10][at % 3]!)
    for (const [at, character] of decoder.decode(row).split('\n').entries())
      if (character.length === 1 && character !== '\ufffd') {
        table[lead * 256 + 0xa1 + at] = character.charCodeAt(0)
        known.add(character.charCodeAt(0))
      }
  }
  // These two came later than the decoders of Node.
  table[0xa2e6] = '€'.charCodeAt(0)
  table[0xa2e7] = '®'.charCodeAt(0)
  // The added syllables stand in the order of Unicode.
  let next = 0xac00
  for (let pair = 0x8141; pair <= 0xc652; pair++) {
    if (!isAdded(pair >> 8, pair & 0xff)) continue
    while (known.has(next)) next++
    table[pair] = next++
  }
  return table
}

let table: Uint16Array | null = null

/** Korean as Windows and browsers read it under the name EUC-KR: with all syllables, of which Node knows a fifth. */
export const decodeKorean = (bytes: Uint8Array): string => {
  table ??= characters()
  const units = new Uint16Array(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const [lead = 0, trail = 0] = [bytes[at], bytes[at + 1]]
    const found = lead < 0x80 ? lead : table[lead * 256 + trail]!
    units[length++] = lead < 0x80 || found !== 0 ? found : 0xfffd
    // What follows a broken character as ASCII stands for itself.
    if (lead >= 0x80 && (found !== 0 || trail >= 0x80)) at++
  }
  return Buffer.from(units.buffer, 0, length * 2).toString('utf16le')
}
