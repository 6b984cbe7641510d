import '../../../fakes/unwatched.ts'
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { greyOf, pgmOf } from '../../../../plugins/shared/pictures/grey.ts'
import { openImage } from '../../../../plugins/shared/pictures/image.ts'
import { readDrawn, overlapOf, grainOf, smoothed } from '../../../../plugins/shared/pictures/ocr-draws.ts'
import type { ReadPage, ReadPicture } from '../../../../plugins/shared/pictures/ocr-engine.ts'
import { upright, turned, mostInked } from '../../../../plugins/shared/pictures/ocr-upright.ts'
import { readPictures } from '../../../../plugins/shared/pictures/ocr.ts'
import { drawImage, type Pixels } from '../../../../plugins/shared/pictures/raster-image.ts'
import { paperOf, redrawn } from '../../../../plugins/shared/pictures/resampled.ts'
import { ruledTables } from '../../../../plugins/shared/pictures/ruled-cells.ts'
import { tiltOf } from '../../../../plugins/shared/pictures/tilt.ts'
import { chance } from '../../../lab/bench/retrieval/chance.ts'

const skip = spawnSync('ffmpeg', ['-version']).status === 0 ? false : 'no ffmpeg here'
const soon = () => AbortSignal.timeout(120_000)

/** Black stripes on white, as lines of text lie on a page. */
const striped = (width: number, height: number): Pixels => ({
  width,
  height,
  bytes: Uint8Array.from({ length: width * height }, (_, at) => {
    const [x, y] = [at % width, Math.floor(at / width)]
    return x > 20 && x < width - 20 && y > 20 && y < height - 20 && y % 24 < 8 && x % 12 < 8 ? 0 : 255
  }),
})

/** The sum of twelve chances is close to a normal distribution. */
const grained = ({ width, height, bytes }: Pixels, deviation: number): Pixels => {
  const { below } = chance(7)
  const normal = () => Array.from({ length: 12 }, () => below(1_000) / 1_000).reduce((sum, value) => sum + value, -6)
  return {
    width,
    height,
    bytes: bytes.map((grey) => Math.max(0, Math.min(255, Math.round(grey + deviation * normal())))),
  }
}

t.test('the slant of lines is found to a fraction of a degree, and straight pictures have none', async (t) => {
  const page = striped(600, 400)
  for (const degrees of [-9, -3, 2, 5, 12]) {
    const found = tiltOf(redrawn(page, { scale: 1, turn: degrees }))
    t.ok(Math.abs(found - degrees) < 0.4, `${degrees}: ${found}`)
  }
  t.equal(tiltOf(page), 0, 'stripes that lie straight')
  t.equal(tiltOf({ width: 300, height: 200, bytes: new Uint8Array(60_000).fill(255) }), 0, 'nothing on it')
  t.equal(tiltOf(grained({ width: 300, height: 200, bytes: new Uint8Array(60_000).fill(128) }, 60)), 0, 'grain alone')
})

t.test('a picture is drawn at another size and turned, on its own paper', async (t) => {
  const page = striped(100, 80)
  const twice = redrawn(page, { scale: 2, turn: 0 })
  t.same([twice.width, twice.height, paperOf(twice)], [200, 160, 255])
  t.ok(twice.bytes[2 * 26 * 200 + 2 * 26]! < 40, 'ink stays where it was')
  const grey = redrawn({ width: 50, height: 50, bytes: new Uint8Array(2500).fill(90) }, { scale: 1, turn: 30 })
  t.ok(grey.width > 50 && grey.bytes.every((value) => value === 90), 'corners have the grey of the paper')
})

t.test('grain is told from letters, and smoothing lessens it', async (t) => {
  const page = striped(400, 300)
  t.equal(grainOf(page), 0, 'sharp letters are no grain')
  const noisy = grained({ ...page, bytes: page.bytes.map((value) => (value === 0 ? 40 : 200)) }, 20)
  const grain = grainOf(noisy)
  t.ok(grain > 14 && grain < 30, `${grain}`)
  t.ok(grainOf(smoothed(noisy)) < grain / 3)
  t.same(smoothed({ width: 1, height: 1, bytes: Uint8Array.of(7) }).bytes, Uint8Array.of(7), 'a single pixel')
})

t.test('the part of a picture with the most ink', async (t) => {
  const bytes = new Uint8Array(100 * 60).fill(255)
  for (let y = 40; y < 50; y++) for (let x = 70; x < 80; x++) bytes[y * 100 + x] = x % 2 === 0 ? 0 : 255
  const part = mostInked({ width: 100, height: 60, bytes }, 20)
  t.same([part.width, part.height], [20, 20])
  t.equal(part.bytes.filter((grey) => grey === 0).length, 50, 'all of the ink')
  t.same(
    mostInked({ width: 3, height: 2, bytes: Uint8Array.of(1, 2, 3, 4, 5, 6) }, 9).bytes,
    Uint8Array.of(1, 2, 3, 4, 5, 6),
  )
})

t.test('how much of two boxes is the same', async (t) => {
  const box = { left: 0, top: 0, right: 10, bottom: 10 }
  t.equal(overlapOf(box, box), 1)
  t.equal(overlapOf(box, { ...box, left: 5, right: 15 }), 50 / 150)
  t.equal(overlapOf(box, { ...box, left: 10, right: 20 }), 0)
  t.equal(overlapOf(box, { ...box, top: 12, bottom: 20 }), 0)
})

const nothing: ReadPage = { lines: [], confidence: 0 }
const lineOf = (text: string, confidence: number, top: number) => ({
  ...{ text, confidence, endsParagraph: false, words: [confidence] },
  box: { left: 0, top, right: 100, bottom: top + 10 },
  evidence: text.length * (confidence - 0.5),
})
const pageOf = (...lines: readonly (readonly [string, number])[]): ReadPage => ({
  lines: lines.map(([text, confidence], at) => lineOf(text, confidence, 20 * at)),
  confidence: lines.reduce((sum, [, value]) => sum + value, 0) / lines.length,
})

t.test('time decides nothing: a slow engine reads as many pictures as a quick one, and few', async (t) => {
  const picture = pgmOf(grained(striped(300, 200), 60))
  const sizesAt = async (ms: number) => {
    const sizes: string[] = []
    const read: ReadPicture = async (bytes, layout) => {
      sizes.push(`${layout} ${bytes.length}`)
      await sleep(ms)
      return pageOf(['x'.repeat(200 + sizes.length), 0.55])
    }
    await upright(read)(picture)
    return sizes
  }
  const quick = await sizesAt(0)
  t.same(await sizesAt(60), quick)
  t.ok(quick.length > 4 && quick.length <= 12, `${quick.length} readings`)
})

t.test('a short page behind a turned one is read as it lies, too', async (t) => {
  const page = striped(300, 200)
  for (let y = 0; y < 19; y++) page.bytes.fill(0, y * 300, y * 300 + 19)
  const readUpright = upright(async (bytes) => {
    const { width, bytes: greys } = greyOf(bytes)!
    return greys[8 * width + 8]! < 128 ? pageOf(['Order', 0.95]) : pageOf(['?'.repeat(length), 0.3])
  })
  let length = 60
  t.equal((await readUpright(pgmOf(turned(page, 2)))).lines[0]?.text, 'Order', 'on its head')
  length = 5
  t.equal((await readUpright(pgmOf(page))).lines[0]?.text, 'Order', 'short')
})

t.test('two readings that say the same end the search', async (t) => {
  const pages = [pageOf(['the harbor', 0.8]), pageOf(['the harbour', 0.7]), pageOf(['the harbour', 0.75])]
  let count = 0
  const { lines } = await readDrawn(async () => pages[count++] ?? nothing, grained(striped(300, 200), 60))
  t.same([count, lines.length], [3, 1])
})

t.test('a clear reading ends the search, and an empty one ends in one block', async (t) => {
  const counted = async (page: ReadPage) => {
    const layouts: unknown[] = []
    await readDrawn(async (_, layout) => (layouts.push(layout), page), striped(300, 200))
    return layouts
  }
  t.same(await counted(pageOf(['clear', 0.95])), [undefined])
  t.same(await counted(nothing), [undefined, 'block'])
})

t.test('each line is taken from the reading in which it has the most evidence', async (t) => {
  const pages = [
    pageOf(['the harbour', 0.9], ['rnaster', 0.6]),
    pageOf(['the harb', 0.7], ['master', 0.9]),
    pageOf(['the harbour', 0.8]),
  ]
  const sizes = [1.5, 1, 2]
  const read: ReadPicture = async () => {
    const [at, scale] = [sizes.length - pages.length, sizes.at(-pages.length)!]
    const page = pages.shift()
    if (page === undefined) throw new Error(`No reading ${at}`)
    const lines = page.lines.map((line) => {
      const { left, top, right, bottom } = line.box
      return { ...line, box: { left: left * scale, top: top * scale, right: right * scale, bottom: bottom * scale } }
    })
    return { ...page, lines }
  }
  const { lines, confidence } = await readDrawn(read, striped(300, 200))
  t.same(
    lines.map(({ text }) => text),
    ['the harbour', 'master'],
  )
  t.equal(confidence, 0.9)
})

/** A picture four times below itself, in two columns. */
const inColumns = ({ width, height, bytes }: Pixels): Pixels => {
  const [gap, times] = [80, 4]
  const across = 2 * width + gap
  const all = new Uint8Array(across * height * times).fill(255)
  for (let y = 0; y < height * times; y++) {
    const from = (y % height) * width
    for (const left of [0, width + gap]) all.set(bytes.subarray(from, from + width), y * across + left)
  }
  return { width: across, height: height * times, bytes: all }
}

t.test('reads pages in columns, askew, with grain and on their head', { skip }, async (t) => {
  const image = openImage(new Uint8Array(await readFile('test/vectors/files/image/order.png')))
  const page = await drawImage(image, { colours: 'grey', longest: 3400 }, soon())
  const pictures = {
    askew: redrawn(page, { scale: 1, turn: 11 }),
    'with grain': grained(page, 70),
    'on its head': turned(page, 2),
  }
  const [columns, ...readings] = await readPictures([inColumns(page), ...Object.values(pictures)].map(pgmOf), soon())
  t.equal(columns?.text.match(/rope to the\s+lighthouse/g)?.length, 8, 'in two columns')
  for (const [at, name] of Object.keys(pictures).entries())
    t.match(readings[at]?.text.replace(/\s+/g, ' '), /forty lanterns and nine coils of rope to the lighthouse/, name)
})

const dues = async () => {
  const image = openImage(new Uint8Array(await readFile('test/vectors/files/image/harbour-dues-by-pillow.png')))
  return drawImage(image, { colours: 'grey', longest: 3400 }, soon())
}

t.test('rules enclose the cells of a table, and a frame or columns of text are none', { skip }, async (t) => {
  const page = await dues()
  const sizes = ruledTables(page).map((rows) => rows.map((cells) => cells.length))
  t.same(sizes, [[4, 2, 5, 5, 5, 5]], 'cells over several rows and columns stand once')
  const first = ruledTables(page)[0]?.[0]?.[0]
  t.ok(first !== undefined && first.left > 28 && first.left < 40 && first.bottom > 140, JSON.stringify(first))
  t.same(ruledTables(striped(600, 400)), [], 'text')
  const framed = striped(300, 200)
  for (let at = 0; at < framed.bytes.length; at++) {
    const [x, y] = [at % 300, Math.floor(at / 300)]
    if (Math.min(x, y, 299 - x, 199 - y) < 3) framed.bytes[at] = 0
  }
  t.same(ruledTables(framed), [], 'a frame around text')
})

t.test('a ruled table is read row by row, with its head on coloured paper', { skip }, async (t) => {
  const page = await dues()
  const pictures = {
    straight: page,
    askew: redrawn(page, { scale: 1, turn: 4 }),
    'light on dark': { ...page, bytes: page.bytes.map((grey) => 255 - grey) },
  }
  const readings = await readPictures(Object.values(pictures).map(pgmOf), soon())
  for (const [at, name] of Object.keys(pictures).entries()) {
    t.match(readings[at]?.text, rowsOfDues.join('\n'), name)
    t.ok(readings[at]!.confidence > 0.8, `${name}: ${readings[at]!.confidence}`)
  }
})

const rowsOfDues = [
  'Quay and berth | Boats | Repairs finished | Harbour dues',
  'Paid | Due by March',
  'North | 12 | 3 | 98.3%, n=12 | 41 shillings',
  'South | 7 | 1 | 34.5%, n=7 | 199 shillings',
  'Low water | 5 | 2 | 97.7%, n=3 (95.4%, n=2) | 1672 shillings (34 days late)',
  'Island | 3 | 0 | all | none',
]

t.test('lines around a table stay in their places, and cells that hold less leave them alone', { skip }, async (t) => {
  const table = await dues()
  const lineAt = (text: string, top: number) => ({
    ...lineOf(text, 0.9, top),
    box: { left: 50, top, right: 850, bottom: top + 20 },
  })
  const whole = {
    lines: [lineAt('above', 2), lineAt('a row of the table', 160), lineAt('below', 395)],
    confidence: 0.95,
  }
  const withCells = (cell: string) =>
    readDrawn(
      async (_, layout) => (layout === 'block' ? pageOf([cell, 0.9]) : { ...whole, lines: scaled(whole.lines) }),
      table,
    )
  const scaled = (lines: ReadPage['lines']) =>
    lines.map((line) => ({
      ...line,
      box: { left: 75, top: 1.5 * line.box.top, right: 1275, bottom: 1.5 * line.box.bottom },
    }))
  const texts = async (cell: string) => (await withCells(cell)).lines.map(({ text }) => text)
  t.same(await texts('cell'), [
    'above',
    ...[4, 2, 5, 5, 5, 5].map((count) => Array.from({ length: count }, () => 'cell').join(' | ')),
    'below',
  ])
  t.same(await texts(''), ['above', 'a row of the table', 'below'])
})
