import { Unreadable } from '../../../core/errors.ts'

/** The words that every packed text may refer to, as the format defines them. */
const dictionary =
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor ' +
  'MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par ' +
  '\\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx'

/** In bytes: how far a reference reaches back. */
const windowBytes = 4096
/** The marks of packed and of plain text: LZFu and MELA. */
const packed = 0x75465a4c
const plain = 0x414c454d

/** In bytes: a mail's text is shorter. */
const most = 32_000_000

/** The RTF of a mail, which Outlook packs. Throws Unreadable when it is neither packed nor plain. */
export const unpackRtf = (bytes: Buffer): Buffer => {
  if (bytes.length < 16) throw new Unreadable()
  const kind = bytes.readUInt32LE(8)
  if (kind === plain) return bytes.subarray(16)
  if (kind !== packed) throw new Unreadable()
  const size = bytes.readUInt32LE(4)
  if (size > most) throw new Unreadable()
  const out = Buffer.alloc(dictionary.length + size)
  let end = out.write(dictionary, 'latin1')
  const ends = Math.min(bytes.length, bytes.readUInt32LE(0) + 4)
  for (let at = 16; at < ends && end < out.length;) {
    const flags = bytes[at++]!
    for (let bit = 0; bit < 8 && at < ends && end < out.length; bit++) {
      if ((flags & (1 << bit)) === 0) {
        out[end++] = bytes[at++]!
        continue
      }
      if (at + 2 > ends) break
      const reference = bytes.readUInt16BE(at)
      at += 2
      const back = (end - (reference >> 4) + windowBytes) % windowBytes
      // A reference to the place of writing ends the text.
      if (back === 0) return out.subarray(dictionary.length, end)
      for (let length = (reference & 15) + 2; length > 0 && end < out.length; length--, end++)
        out[end] = end < back ? 0 : out[end - back]!
    }
  }
  return out.subarray(dictionary.length, end)
}
