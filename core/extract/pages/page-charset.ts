/** The text of a page. What names no encoding is UTF-8 where it can be, and otherwise what the oldest browsers took it for. */
export const decodePage = (bytes: Uint8Array, contentType: string): string => {
  const decoder = named(bytes, contentType)
  if (decoder) return decodeWith(decoder, bytes)
  try {
    // As a stream, since a page that was cut may end within a character.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
  } catch {
    return decodeWith(new TextDecoder('windows-1252'), bytes)
  }
}

/** A byte order mark counts most, then what the server says, then what the page says of itself. */
const named = (bytes: Uint8Array, contentType: string): TextDecoder | null => {
  const mark = marks.find(({ start }) => start.every((byte, at) => bytes[at] === byte))
  if (mark) return new TextDecoder(mark.label)
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 4096)).toString('latin1')
  const inside =
    /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w:.-]+)/i.exec(head)?.[1] ??
    /<meta\s[^>]*?charset\s*=\s*["']?\s*([\w:.-]+)/i.exec(head)?.[1]
  // A page that could be read so far is not in UTF-16, whatever it says.
  const said = inside && /^utf-?16/i.test(inside) ? 'utf-8' : inside
  return decoderFor(/;\s*charset\s*=\s*["']?([\w:.-]+)/i.exec(contentType)?.[1]) ?? decoderFor(said)
}

const marks = [
  { start: [0xef, 0xbb, 0xbf], label: 'utf-8' },
  { start: [0xfe, 0xff], label: 'utf-16be' },
  { start: [0xff, 0xfe], label: 'utf-16le' },
]

const decoderFor = (label: string | undefined): TextDecoder | null => {
  try {
    return label === undefined ? null : new TextDecoder(label)
  } catch {
    return null
  }
}

// What stands at 0x80 to 0x9f in windows-1252, which Node 20 takes for ISO 8859-1.
const late = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

const decodeWith = (decoder: TextDecoder, bytes: Uint8Array): string => {
  const text = decoder.decode(bytes)
  if (decoder.encoding !== 'windows-1252') return text
  return text.replace(/[\x80-\x9f]/g, (character) => late[character.charCodeAt(0) - 0x80]!)
}
