import { concat, number, fromHex } from '../../../plugins/sealed/wire/bytes.ts'

/** Writers of DER, for the certificates and lists of the test platform. */
export const der = (tag: number, ...content: readonly Uint8Array[]): Uint8Array => {
  const all = concat(...content)
  const { length } = all
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return concat(Uint8Array.of(tag, ...size), all)
}

export const sequence = (...content: readonly Uint8Array[]): Uint8Array => der(0x30, ...content)

export const hex = (text: string): Uint8Array => fromHex(text.replace(/\s/g, ''), 1 << 20)!

export const integer = (value: number | bigint | Uint8Array): Uint8Array => {
  let bytes = value instanceof Uint8Array ? value : number(value, 20)
  while (bytes.length > 1 && bytes[0] === 0) bytes = bytes.subarray(1)
  return der(0x02, bytes[0]! >= 0x80 ? concat(Uint8Array.of(0), bytes) : bytes)
}

/** An object identifier from its dotted text. */
export const oid = (dotted: string): Uint8Array => {
  const [first, second, ...rest] = dotted.split('.').map(Number) as [number, number, ...number[]]
  const spelled = (value: number): readonly number[] => {
    const groups = [value & 0x7f]
    for (let left = value >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80)
    return groups
  }
  return der(0x06, Uint8Array.from([first * 40 + second, ...rest].flatMap(spelled)))
}

export const bitString = (bytes: Uint8Array, unused = 0): Uint8Array => der(0x03, Uint8Array.of(unused), bytes)

export const octetString = (...bytes: readonly Uint8Array[]): Uint8Array => der(0x04, ...bytes)

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)

export const ia5 = (text: string): Uint8Array => der(0x16, ascii(text))

export const utcTime = (time: number): Uint8Array => {
  const [date, clock] = new Date(time).toISOString().slice(2, 19).split('T') as [string, string]
  return der(0x17, ascii(`${date.replaceAll('-', '')}${clock.replaceAll(':', '')}Z`))
}

export const generalizedTime = (time: number): Uint8Array =>
  der(0x18, ascii(`${new Date(time).toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}Z`))

/** A name with one common name. */
export const name = (common: string): Uint8Array =>
  sequence(der(0x31, sequence(oid('2.5.4.3'), der(0x0c, ascii(common)))))
