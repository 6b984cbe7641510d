/** What the boxes of an MP4 file say; nothing is decoded. */
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

/** `fragmented` files tell their length only piece by piece; null is no MP4 file, or one without pictures. */
export const readMp4 = (bytes: Uint8Array): Mp4 | 'fragmented' | null => {
  try {
    return read(bytes)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** A box that ends outside of what it stands in, and a DataView that reads past its end, are both out of range. */
const broken = () => new RangeError('Broken box')

const mostBoxes = 4096

interface Box {
  readonly type: string
  /** Without its header. */
  readonly content: Uint8Array
}

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const boxesIn = (bytes: Uint8Array): readonly Box[] => {
  const view = viewOf(bytes)
  const boxes: Box[] = []
  for (let at = 0; at < bytes.length;) {
    if (boxes.length === mostBoxes) throw broken()
    let size = view.getUint32(at)
    let head = 8
    if (size === 1) {
      size = Number(view.getBigUint64(at + 8))
      head = 16
    } else if (size === 0) {
      size = bytes.length - at
    }
    if (size < head || at + size > bytes.length) throw broken()
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8))
    boxes.push({ type, content: bytes.subarray(at + head, at + size) })
    at += size
  }
  return boxes
}

const inside = (boxes: readonly Box[], ...path: readonly string[]): Uint8Array | null => {
  const [type, ...rest] = path
  const content = boxes.find((box) => box.type === type)?.content
  if (!content) return null
  return rest.length === 0 ? content : inside(boxesIn(content), ...rest)
}

const read = (bytes: Uint8Array): Mp4 | 'fragmented' | null => {
  const top = boxesIn(bytes)
  if (top[0]?.type !== 'ftyp') return null
  const movie = inside(top, 'moov')
  if (!movie) return null
  const boxes = boxesIn(movie)
  if (top.some(({ type }) => type === 'moof') || boxes.some(({ type }) => type === 'mvex')) return 'fragmented'
  const header = inside(boxes, 'mvhd')
  if (!header) return null
  let duration = lengthOf(header, 12)
  let shown = 0
  let width = 0
  let height = 0
  let since: Mp4['since'] | null = null
  for (const { type, content } of boxes) {
    if (type !== 'trak') continue
    const track = trackOf(content)
    duration = Math.max(duration, track.duration)
    if (track.width === 0) continue
    since ??= track.since
    shown = Math.max(shown, track.shown)
    width = Math.max(width, track.width)
    height = Math.max(height, track.height)
  }
  return since && height > 0 && shown > 0 ? { duration, shown, width, height, since } : null
}

const trackOf = (content: Uint8Array) => {
  const boxes = boxesIn(content)
  const media = inside(boxes, 'mdia', 'mdhd')
  const kind = inside(boxes, 'mdia', 'hdlr')
  const times = inside(boxes, 'mdia', 'minf', 'stbl', 'stts')
  const entries = inside(boxes, 'mdia', 'minf', 'stbl', 'stsd')
  if (!media || !kind || !times || !entries) throw broken()
  const scale = scaleOf(media, 12)
  const shown = samplesOf(times) / scale
  const since = (second: number) => startOf(times, second * scale) / scale
  const duration = Math.max(lengthOf(media, 12), shown)
  if (String.fromCharCode(...kind.subarray(8, 12)) !== 'vide') return { duration, shown, since, width: 0, height: 0 }
  const tracked = inside(boxes, 'tkhd')
  if (!tracked) throw broken()
  const header = viewOf(tracked)
  const end = tracked[0] === 1 ? 88 : 76
  let width = header.getUint32(end) / 65536
  let height = header.getUint32(end + 4) / 65536
  for (const entry of boxesIn(entries.subarray(8))) {
    const view = viewOf(entry.content)
    width = Math.max(width, view.getUint16(24))
    height = Math.max(height, view.getUint16(26))
  }
  return { duration, shown, since, width, height }
}

/** Ticks a second of a header whose version 0 has its scale at `at`. */
const scaleOf = (header: Uint8Array, at: number): number => {
  const scale = viewOf(header).getUint32(header[0] === 1 ? at + 8 : at)
  if (scale === 0) throw broken()
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

/** All sample durations together, in ticks: what is really there, whatever the headers say. */
const samplesOf = (times: Uint8Array): number => {
  const view = viewOf(times)
  const count = view.getUint32(4)
  let ticks = 0
  for (let entry = 0; entry < count; entry++) ticks += view.getUint32(8 + entry * 8) * view.getUint32(12 + entry * 8)
  return ticks
}

/** In ticks, the last start of a sample at or before `tick`. */
const startOf = (times: Uint8Array, tick: number): number => {
  const view = viewOf(times)
  const count = view.getUint32(4)
  let start = 0
  for (let entry = 0; entry < count; entry++) {
    const samples = view.getUint32(8 + entry * 8)
    const each = view.getUint32(12 + entry * 8)
    const end = start + samples * each
    if (each > 0 && tick < end) return start + Math.floor((tick - start) / each) * each
    if (entry + 1 < count) start = end
    else return Math.max(0, end - each)
  }
  return start
}
