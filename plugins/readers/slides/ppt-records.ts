/** Kinds of records, as the format numbers them. */
export const kinds = {
  slidePlace: 1011,
  notes: 1009,
  show: 1017,
  placeholder: 3011,
  outlined: 3998,
  textHead: 3999,
  wideText: 4000,
  narrowText: 4008,
  name: 4026,
  link: 4055,
  slideList: 4080,
  userEdit: 4085,
  places: 6002,
  shape: 0xf004,
} as const

/** A record of the format. `instance` is a number in its header, whose meaning depends on the kind. */
export interface Atom {
  readonly kind: number
  readonly instance: number
  /** Empty for a record that holds others; those follow. */
  readonly data: Buffer
}

/** The records within a record, in the order of the file. A record that claims more than there is ends the list. */
export function* atoms(part: Buffer): Generator<Atom> {
  for (let at = 0; at + 8 <= part.length;) {
    const head = part.readUInt16LE(at)
    const isContainer = (head & 15) === 15
    const [kind, length] = [part.readUInt16LE(at + 2), part.readUInt32LE(at + 4)]
    const end = at + 8 + length
    if (!isContainer && end > part.length) return
    yield { kind, instance: head >> 4, data: isContainer ? part.subarray(0, 0) : part.subarray(at + 8, end) }
    at = isContainer ? at + 8 : end
  }
}
