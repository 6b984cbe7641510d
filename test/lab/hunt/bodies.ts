import { type Path, type Place, placesOf } from './shape.ts'

/** A body as what stands around one place, and what is put there again and again. */
export interface Spoiled {
  /** Where and how, such as `messages.0 wide {}`. */
  readonly name: string
  /** It grows with its size by what is put in, not by the spaces behind it. */
  readonly grows: boolean
  /** Bytes of what is put in again and again; absent where nothing is. */
  readonly unit?: number
  /** JSON of about so many bytes, or what is no JSON any more. */
  text(size: number): Buffer
}

const hole = '\u0001'
const holeText = JSON.stringify(hole)

/** The text around a place. */
const around = (whole: unknown, path: Path): readonly [string, string] => {
  const put = (value: unknown, [name, ...rest]: Path): unknown => {
    if (name === undefined) return hole
    if (Array.isArray(value)) return value.map((member, at) => (at === name ? put(member, rest) : member))
    return { ...(value as object), [name]: put((value as Readonly<Record<string, unknown>>)[name], rest) }
  }
  const [before, after] = JSON.stringify(put(whole, path)).split(holeText)
  return [before!, after!]
}

/** `open`, then as many `unit`s as fit, then `close`, with as many closings as units where they are nested. */
interface Filling {
  readonly open: string
  readonly unit: string
  readonly close: string
  readonly closings?: string
}

const repeated = (unit: string, count: number): Buffer => Buffer.alloc(Buffer.byteLength(unit) * count, unit)

/** `before`, then `unit` as often as it fits into so many bytes, then `after`. */
export const repeatedIn = (before: string, unit: string, after: string, size: number): Buffer =>
  filled(before, after, { open: '', unit, close: '' }, size)

const filled = (before: string, after: string, { open, unit, close, closings = '' }: Filling, size: number): Buffer => {
  const rest = [before, open, close, after].reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  const count = Math.max(1, Math.floor((size - rest) / (Buffer.byteLength(unit) + closings.length)))
  const parts = [Buffer.from(before + open), repeated(unit, count), Buffer.from(close), repeated(closings, count)]
  return Buffer.concat([...parts, Buffer.from(after)])
}

const width = 10

/** Members of an object, eleven bytes each with their comma, whose keys all differ. */
export const members = (count: number): Buffer => {
  const all = Buffer.alloc(count * width, '"000000":0')
  const bytes = Buffer.alloc(count * (width + 1))
  for (let at = 0; at < count; at++) {
    all.write(at.toString(36).padStart(6, '0'), at * width + 1, 'latin1')
    all.copy(bytes, at * (width + 1), at * width, (at + 1) * width)
    bytes[at * (width + 1) + width] = 0x2c
  }
  return bytes.subarray(0, -1)
}

const keyed = (before: string, after: string, size: number): Buffer => {
  const count = Math.max(1, Math.floor((size - before.length - after.length - 2) / (width + 1)))
  return Buffer.concat([Buffer.from(`${before}{`), members(count), Buffer.from(`}${after}`)])
}

const padded = (text: string, size: number): Buffer => {
  const bytes = Buffer.from(text)
  return Buffer.concat([bytes, Buffer.alloc(Math.max(0, size - bytes.length), ' ')])
}

const array = (unit: string): Filling => ({ open: '[', unit: `${unit},`, close: `${unit}]` })
const long = (unit: string): Filling => ({ open: '"', unit, close: '"' })

/** What is put into any place, by what it makes of it. */
const stretched: Readonly<Record<string, Filling>> = {
  'wide 1': array('1'),
  'wide {}': array('{}'),
  'wide []': array('[]'),
  'wide ""': array('""'),
  'deep []': { open: '', unit: '[', close: '', closings: ']' },
  'deep {}': { open: '', unit: '{"a":', close: '1', closings: '}' },
  'long a': long('a'),
  'long é': long('é'),
  'long escaped': long('\\u0041'),
  'long number': { open: '1', unit: '1', close: '' },
}

const wrong: Readonly<Record<string, string>> = {
  null: 'null',
  true: 'true',
  'a number': '-1e400',
  'a string': '""',
  'an array': '[]',
  'an object': '{}',
  'a prototype': '{"__proto__":{"length":1}}',
}

/** Every way in which one place of a body is spoiled. */
const spoiledAt = (whole: unknown, { path, value }: Place): readonly Spoiled[] => {
  const [before, after] = around(whole, path)
  const own = JSON.stringify(value)
  const where = path.length === 0 ? 'body' : path.join('.')
  const grown = (how: string, filling: Filling): Spoiled => ({
    name: `${where} ${how}`,
    grows: true,
    unit: Buffer.byteLength(filling.unit) + (filling.closings?.length ?? 0),
    text: (size) => filled(before, after, filling, size),
  })
  const name = path.at(-1)
  const twice = typeof name === 'string' ? [grown('twice', { open: '', unit: `${own},"${name}":`, close: own })] : []
  const elements = Array.isArray(value) ? [grown('wide own', array(JSON.stringify(value[0])))] : []
  return [
    ...Object.entries(stretched).map(([how, filling]) => grown(how, filling)),
    ...twice,
    ...elements,
    { name: `${where} wide keys`, grows: true, unit: width + 1, text: (size) => keyed(before, after, size) },
    ...Object.entries(wrong).map(([how, text]) => ({
      name: `${where} ${how}`,
      grows: false,
      text: (size: number) => padded(before + text + after, size),
    })),
    {
      name: `${where} cut`,
      grows: false,
      text: (size) => filled(before, '', { open: '', unit: ' ', close: own.slice(0, own.length >> 1) }, size),
    },
  ]
}

/** The valid body alone, and each of its places spoiled in every way. */
export const spoiledOf = (whole: unknown): readonly Spoiled[] => [
  { name: 'valid', grows: false, text: (size) => padded(JSON.stringify(whole), size) },
  ...placesOf(whole).flatMap((place) => spoiledAt(whole, place)),
]
