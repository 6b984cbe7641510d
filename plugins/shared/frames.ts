import { Deserializer, Serializer } from 'node:v8'

/** The limits of a frame in bytes: its values, and the memory beside them. */
export interface FrameLimits {
  readonly values: number
  readonly memory: number
}

/** A value as pieces for a pipe: their number and lengths, the values, and memory without a copy. */
export const packFrame = (value: unknown): readonly Uint8Array[] => {
  const views: Uint8Array[] = []
  const writer = new Packing(views)
  writer.writeHeader()
  writer.writeValue(value)
  const parts = [writer.releaseBuffer(), ...views]
  const head = Buffer.alloc(4 + 4 * parts.length)
  head.writeUInt32LE(parts.length)
  parts.forEach(({ length }, at) => head.writeUInt32LE(length, 4 + 4 * at))
  return [head, ...parts]
}

/** The kinds of memory that are sent. */
const kinds = [Uint8Array, Float32Array, Float64Array] as const

/** Memory travels beside the values: V8's own form would copy its bytes. */
class Packing extends Serializer {
  readonly #views: Uint8Array[]

  constructor(views: Uint8Array[]) {
    super()
    this.#views = views
    ;(
      this as unknown as { _setTreatArrayBufferViewsAsHostObjects(yes: boolean): void }
    )._setTreatArrayBufferViewsAsHostObjects(true)
  }

  _writeHostObject(view: ArrayBufferView): void {
    const kind = kinds.findIndex((kind) => view instanceof kind)
    if (kind < 0) throw new TypeError('This kind of memory does not travel')
    this.writeUint32(kind)
    this.writeUint32(this.#views.push(new Uint8Array(view.buffer, view.byteOffset, view.byteLength)) - 1)
  }
}

class Unpacking extends Deserializer {
  readonly #views: readonly Uint8Array[]

  constructor(values: Uint8Array, views: readonly Uint8Array[]) {
    super(values)
    this.#views = views
  }

  _readHostObject(): ArrayBufferView {
    const Kind = kinds[this.readUint32()]
    const view = this.#views[this.readUint32()]
    if (Kind === undefined || view === undefined) throw new TypeError('Unknown memory')
    return new Kind(view.buffer as ArrayBuffer, view.byteOffset, view.byteLength / Kind.BYTES_PER_ELEMENT)
  }
}

/** The lengths that a frame's first bytes announce; null while bytes are missing. Throws when they exceed `most`. */
export const lengthsOf = (bytes: Buffer, most: FrameLimits): readonly number[] | null => {
  if (bytes.length < 4) return null
  const count = bytes.readUInt32LE()
  if (count < 1 || count > mostParts) throw new RangeError('Too many pieces')
  if (bytes.length < 4 + 4 * count) return null
  const lengths = Array.from({ length: count }, (_, at) => bytes.readUInt32LE(4 + 4 * at))
  const [values = 0, ...memory] = lengths
  if (values > most.values || memory.reduce((sum, bytes) => sum + bytes, 0) > most.memory)
    throw new RangeError('Too much')
  return lengths
}

/** The pieces of one frame, with the values. */
const mostParts = 1024

/** The value of a frame's pieces. Throws for other bytes. */
export const unpackFrame = ([values, ...views]: readonly Uint8Array[]): unknown => {
  const reader = new Unpacking(values ?? new Uint8Array(), views)
  reader.readHeader()
  return reader.readValue()
}
