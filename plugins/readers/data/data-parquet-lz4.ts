/** In bytes: the shortest copy of earlier bytes. */
const shortest = 4

/** A block of LZ4 that fills exactly `length` bytes. Throws on any other block. */
export const lz4Block = (input: Uint8Array, length: number): Uint8Array => {
  const output = new Uint8Array(length)
  let from = 0
  let to = 0
  const byte = (): number => {
    const value = input[from++]
    if (value === undefined) throw new Error('An LZ4 block is cut')
    return value
  }
  /** Four bits hold a small number, and further bytes are added to the largest. */
  const numberOf = (bits: number): number => {
    let value = bits
    for (let more = bits === 15 ? 255 : 0; more === 255; value += more) more = byte()
    return value
  }
  while (from < input.length) {
    const token = byte()
    const literals = numberOf(token >> 4)
    if (literals > input.length - from || literals > length - to) throw new Error('An LZ4 block is too long')
    output.set(input.subarray(from, from + literals), to)
    from += literals
    to += literals
    // Literals alone end a block.
    if (from === input.length) break
    const back = byte() + byte() * 256
    const copied = numberOf(token & 15) + shortest
    if (back === 0 || back > to || copied > length - to) throw new Error('An LZ4 block copies what is not there')
    // A copy may reach into itself.
    for (const end = to + copied; to < end; to++) output[to] = output[to - back]!
  }
  if (to !== length) throw new Error('An LZ4 block is too short')
  return output
}

/** The older codec of that name: Hadoop writes both lengths before each block, and other programs write one block. */
export const lz4Blocks = (input: Uint8Array, length: number): Uint8Array => {
  const pieces = hadoopPieces(input, length)
  if (pieces === null) return lz4Block(input, length)
  const output = new Uint8Array(length)
  let to = 0
  for (const { block, size } of pieces) {
    output.set(lz4Block(block, size), to)
    to += size
  }
  return output
}

/** Null when the lengths do not add up. */
const hadoopPieces = (input: Uint8Array, length: number) => {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength)
  const pieces: { readonly block: Uint8Array; readonly size: number }[] = []
  let left = length
  let at = 0
  while (input.length - at >= 8) {
    const [size, packed] = [view.getUint32(at), view.getUint32(at + 4)]
    if (size > left || packed > input.length - at - 8) return null
    pieces.push({ block: input.subarray(at + 8, at + 8 + packed), size })
    left -= size
    at += 8 + packed
  }
  return at === input.length && left === 0 ? pieces : null
}
