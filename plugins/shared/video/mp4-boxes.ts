/** A box of an MP4 file (ISO/IEC 14496-12). */
export interface Box {
  readonly type: string
  /** Without its header. */
  readonly content: Uint8Array
}

/** So many samples, each so many ticks long. */
export interface Run {
  readonly samples: number
  readonly each: number
}

/** More than a video of half a minute can need, one fragment a picture. */
const mostBoxes = 16_384

/** A box that ends outside of what it stands in, and a DataView that reads past its end, are both out of range. */
export const brokenBox = () => new RangeError('Broken box')

/** The bytes as big-endian numbers: a view reads so by itself, and throws RangeError beyond the end. */
export const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The boxes that stand side by side. Throws RangeError for broken ones, and for more than 16,384. */
export const boxesIn = (bytes: Uint8Array): readonly Box[] => {
  const view = viewOf(bytes)
  const boxes: Box[] = []
  for (let at = 0; at < bytes.length;) {
    if (boxes.length === mostBoxes) throw brokenBox()
    let size = view.getUint32(at)
    let head = 8
    if (size === 1) {
      size = Number(view.getBigUint64(at + 8))
      head = 16
    } else if (size === 0) {
      size = bytes.length - at
    }
    if (size < head || at + size > bytes.length) throw brokenBox()
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8))
    boxes.push({ type, content: bytes.subarray(at + head, at + size) })
    at += size
  }
  return boxes
}

const contentsOf = (boxes: readonly Box[], type: string): readonly Uint8Array[] =>
  boxes.flatMap((box) => (box.type === type ? [box.content] : []))

/** The first box on this path. */
export const boxAt = (boxes: readonly Box[], ...path: readonly string[]): Uint8Array | null => {
  const [type, ...rest] = path
  const content = boxes.find((box) => box.type === type)?.content
  if (!content) return null
  return rest.length === 0 ? content : boxAt(boxesIn(content), ...rest)
}

/** How long the samples of a track are, as its table tells. */
export const tabledRuns = (table: Uint8Array): readonly Run[] => {
  const view = viewOf(table)
  const count = view.getUint32(4)
  const runs: Run[] = []
  for (let entry = 0; entry < count; entry++) {
    runs.push({ samples: view.getUint32(8 + entry * 8), each: view.getUint32(12 + entry * 8) })
  }
  return runs
}

/** The same of the fragments behind the table, by track; `movie` holds what they leave out. */
export const fragmentedRuns = (top: readonly Box[], movie: readonly Box[]): ReadonlyMap<number, readonly Run[]> => {
  const usual = new Map<number, number>()
  for (const content of contentsOf(boxesIn(boxAt(movie, 'mvex') ?? new Uint8Array()), 'trex')) {
    const view = viewOf(content)
    usual.set(view.getUint32(4), view.getUint32(12))
  }
  const tracks = new Map<number, { readonly runs: Run[]; begun: number | null; ticks: number }>()
  for (const moof of contentsOf(top, 'moof')) {
    for (const traf of contentsOf(boxesIn(moof), 'traf')) {
      const boxes = boxesIn(traf)
      const head = boxAt(boxes, 'tfhd')
      if (!head) throw brokenBox()
      const { track, each } = headOf(head)
      let seen = tracks.get(track)
      if (!seen) tracks.set(track, (seen = { runs: [], begun: null, ticks: 0 }))
      const begins = startOf(boxAt(boxes, 'tfdt'))
      if (begins !== null) {
        seen.begun ??= begins
        const gap = begins - seen.begun - seen.ticks
        if (gap > 0) seen.ticks += stretch(seen.runs, gap)
      }
      for (const trun of contentsOf(boxes, 'trun')) {
        for (const run of runsOf(trun, each ?? usual.get(track) ?? 0)) {
          seen.runs.push(run)
          seen.ticks += run.samples * run.each
        }
      }
    }
  }
  return new Map([...tracks].map(([track, { runs }]) => [track, runs]))
}

const flagsOf = (content: Uint8Array): number => viewOf(content).getUint32(0) & 0xffffff

const headOf = (content: Uint8Array): { readonly track: number; readonly each: number | null } => {
  const view = viewOf(content)
  const flags = flagsOf(content)
  const at = 8 + (flags & 0x1 ? 8 : 0) + (flags & 0x2 ? 4 : 0)
  return { track: view.getUint32(4), each: flags & 0x8 ? view.getUint32(at) : null }
}

const startOf = (content: Uint8Array | null): number | null => {
  if (content === null) return null
  const view = viewOf(content)
  return content[0] === 1 ? Number(view.getBigUint64(4)) : view.getUint32(4)
}

/** The last sample is shown until the next one comes, however late. */
const stretch = (runs: Run[], gap: number): number => {
  const last = runs.pop()
  if (!last || last.samples === 0) return 0
  runs.push({ samples: last.samples - 1, each: last.each }, { samples: 1, each: last.each + gap })
  return gap
}

const runsOf = (content: Uint8Array, usual: number): readonly Run[] => {
  const view = viewOf(content)
  const flags = flagsOf(content)
  const count = view.getUint32(4)
  if (!(flags & 0x100)) return [{ samples: count, each: usual }]
  const step = [0x100, 0x200, 0x400, 0x800].reduce((step, flag) => step + (flags & flag ? 4 : 0), 0)
  const first = 8 + (flags & 0x1 ? 4 : 0) + (flags & 0x4 ? 4 : 0)
  const runs: Run[] = []
  for (let sample = 0; sample < count; sample++) runs.push({ samples: 1, each: view.getUint32(first + sample * step) })
  return runs
}
