import { boxesIn, brokenBox, fragmentedRuns, boxAt, tabledRuns, viewOf, type Run } from './mp4-boxes.ts'

/** What the boxes of an MP4 file say, whole or in fragments; nothing is decoded. */
export interface Mp4 {
  /** Seconds: the longest of what its parts claim. */
  readonly duration: number
  /** Seconds in which pictures are shown. */
  readonly shown: number
  /** Pixels of the largest picture track. */
  readonly width: number
  readonly height: number
  /** When the picture that is shown at this second came up. */
  since(second: number): number
}

/** Null is no MP4 file, or one without pictures. */
export const readMp4 = (bytes: Uint8Array): Mp4 | null => {
  try {
    return read(bytes)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

const read = (bytes: Uint8Array): Mp4 | null => {
  const top = boxesIn(bytes)
  if (top[0]?.type !== 'ftyp') return null
  const movie = boxAt(top, 'moov')
  if (!movie) return null
  const boxes = boxesIn(movie)
  const header = boxAt(boxes, 'mvhd')
  if (!header) return null
  const fragments = fragmentedRuns(top, boxes)
  let duration = Math.max(lengthOf(header, 12), claimOf(boxAt(boxes, 'mvex', 'mehd'), header))
  let shown = 0
  let width = 0
  let height = 0
  let since: Mp4['since'] | null = null
  const ids = new Set<number>()
  for (const { type, content } of boxes) {
    if (type !== 'trak') continue
    const track = trackOf(content, fragments)
    // Else each of many would be the sum of all fragments.
    if (ids.has(track.id)) throw brokenBox()
    ids.add(track.id)
    duration = Math.max(duration, track.duration)
    if (track.width === 0) continue
    since ??= track.since
    shown = Math.max(shown, track.shown)
    width = Math.max(width, track.width)
    height = Math.max(height, track.height)
  }
  return since && height > 0 && shown > 0 ? { duration, shown, width, height, since } : null
}

const trackOf = (content: Uint8Array, fragments: ReadonlyMap<number, readonly Run[]>) => {
  const boxes = boxesIn(content)
  const media = boxAt(boxes, 'mdia', 'mdhd')
  const kind = boxAt(boxes, 'mdia', 'hdlr')
  const times = boxAt(boxes, 'mdia', 'minf', 'stbl', 'stts')
  const entries = boxAt(boxes, 'mdia', 'minf', 'stbl', 'stsd')
  const tracked = boxAt(boxes, 'tkhd')
  if (!media || !kind || !times || !entries || !tracked) throw brokenBox()
  const header = viewOf(tracked)
  const scale = scaleOf(media, 12)
  const id = header.getUint32(tracked[0] === 1 ? 20 : 12)
  const runs = [...tabledRuns(times), ...(fragments.get(id) ?? [])]
  // What is really there, whatever the headers say.
  const shown = runs.reduce((ticks, { samples, each }) => ticks + samples * each, 0) / scale
  const since = (second: number) => startOf(runs, second * scale) / scale
  const duration = Math.max(lengthOf(media, 12), shown)
  if (String.fromCharCode(...kind.subarray(8, 12)) !== 'vide')
    return { id, duration, shown, since, width: 0, height: 0 }
  const end = tracked[0] === 1 ? 88 : 76
  let width = header.getUint32(end) / 65536
  let height = header.getUint32(end + 4) / 65536
  for (const entry of boxesIn(entries.subarray(8))) {
    const view = viewOf(entry.content)
    width = Math.max(width, view.getUint16(24))
    height = Math.max(height, view.getUint16(26))
  }
  return { id, duration, shown, since, width, height }
}

/** Ticks a second of a header whose version 0 has its scale at `at`. */
const scaleOf = (header: Uint8Array, at: number): number => {
  const scale = viewOf(header).getUint32(header[0] === 1 ? at + 8 : at)
  if (scale === 0) throw brokenBox()
  return scale
}

const lengthOf = (header: Uint8Array, at: number): number => {
  const view = viewOf(header)
  // All ones stand for a length that is not known.
  if (header[0] === 1) {
    const ticks = view.getBigUint64(at + 12)
    return ticks === 0xffffffffffffffffn ? 0 : Number(ticks) / scaleOf(header, at)
  }
  const ticks = view.getUint32(at + 4)
  return ticks === 0xffffffff ? 0 : ticks / scaleOf(header, at)
}

/** Seconds that all fragments together are said to last, in ticks of the movie. */
const claimOf = (claim: Uint8Array | null, header: Uint8Array): number => {
  if (claim === null) return 0
  const view = viewOf(claim)
  return (claim[0] === 1 ? Number(view.getBigUint64(4)) : view.getUint32(4)) / scaleOf(header, 12)
}

/** In ticks, the last start of a sample at or before `tick`. */
const startOf = (runs: readonly Run[], tick: number): number => {
  let start = 0
  let last = 0
  for (const { samples, each } of runs) {
    if (samples === 0) continue
    const end = start + samples * each
    if (each > 0 && tick < end) return start + Math.floor((tick - start) / each) * each
    last = Math.max(start, end - each)
    start = end
  }
  return last
}
