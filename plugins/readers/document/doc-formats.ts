/** Bytes of the stream that have one format. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** In bytes: the format cuts its stream into pages of this size. */
const pageBytes = 512

/** A list in the table, by the place in the header that names its start and length; empty where there is none. */
export const listAt = (main: Buffer, table: Buffer, at: number): Buffer => {
  const from = main.readUInt32LE(at)
  return table.subarray(from, from + main.readUInt32LE(at + 4))
}

/** The pages with formats, which a list in the table names; `at` is its place in the header. */
export function* formatPages(main: Buffer, table: Buffer, at: number): Generator<Buffer> {
  const list = listAt(main, table, at)
  const count = Math.floor((list.length - 4) / 8)
  const seen = new Set<number>()
  for (let entry = 0; entry < count; entry++) {
    const number = list.readUInt32LE(4 * (count + 1) + 4 * entry)
    const page = main.subarray(number * pageBytes, (number + 1) * pageBytes)
    if (page.length === pageBytes && !seen.has(number)) yield page
    seen.add(number)
  }
}

/** Bytes of a change's value by its kind; a value of kind 6 begins with its own length. */
const sizes = [1, 1, 2, 4, 2, 2, 0, 3]

/** The columns of a table; their length has two bytes. */
const tableChange = 0xd608

/** Changes between two places of a page or a style, with the first byte of their value and with its first two. */
export function* changesOf(within: Buffer, from: number, to: number) {
  const end = Math.min(within.length, to)
  for (let at = from; at + 3 <= end;) {
    const change = within.readUInt16LE(at)
    const value = within[at + 2]!
    const word = at + 4 <= end ? within.readUInt16LE(at + 2) : value
    yield { change, value, word }
    const size = change === tableChange ? 1 + word : sizes[change >> 13]!
    at += 2 + (size === 0 ? 1 + value : size)
  }
}

/** Finds the span around a place; undefined where there is none. */
export const finder = <S extends Span>(spans: S[]): ((place: number) => S | undefined) => {
  spans.sort((one, other) => one.from - other.from)
  let last: S | undefined
  return (place) => {
    if (last && last.from <= place && place < last.to) return last
    let [low, high] = [0, spans.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (spans[middle]!.to <= place) low = middle + 1
      else high = middle
    }
    const found = spans[low]
    return (last = found && found.from <= place ? found : undefined)
  }
}
