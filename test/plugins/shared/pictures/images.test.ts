import '../../../fakes/unwatched.ts'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { Unconfigured, Unreadable } from '../../../../core/errors.ts'
import { kindOf } from '../../../../plugins/readers/shared/file-kind.ts'
import { openImage } from '../../../../plugins/shared/pictures/image.ts'
import { readImage, readPictures } from '../../../../plugins/shared/pictures/ocr.ts'
import { drawImage } from '../../../../plugins/shared/pictures/raster-image.ts'
import { greyOf, pgmOf } from '../../../../plugins/shared/pictures/grey.ts'
import { turned } from '../../../../plugins/shared/pictures/ocr-upright.ts'
import { quietClock } from '../../../slowness.ts'
import { withoutPrograms } from '../../../helpers.ts'

const folder = 'test/vectors/files/image'
const file = async (name: string) => new Uint8Array(await readFile(`${folder}/${name}`))
const soon = () => AbortSignal.timeout(30_000)
const thrownBy = (work: () => unknown): unknown => {
  try {
    work()
    return null
  } catch (error) {
    return error
  }
}
const skip = spawnSync('ffmpeg', ['-version']).status === 0 ? false : 'no ffmpeg here'

const heads = {
  'order.png': ['png', 841, 218, 1, 1],
  'order.webp': ['webp', 841, 218, 1, 1],
  'order.gif': ['gif', 841, 218, 1, 1],
  'order.bmp': ['bmp', 841, 218, 1, 1],
  'order-turned-by-exif.jpg': ['jpeg', 841, 218, 6, 1],
  'order-turned-by-pillow.png': ['png', 841, 218, 6, 1],
  'order-turned-by-pillow.webp': ['webp', 841, 218, 6, 1],
  'two-pages-of-fax.tiff': ['tiff', 827, 1170, 1, 2],
} as const

t.test('the first bytes identify an image', async (t) => {
  for (const [name, expected] of Object.entries(heads)) {
    const { format, width, height, orientation, pages } = openImage(await file(name))
    t.same([format, width, height, orientation, pages], expected, name)
  }
})

t.test('a cut or changed file is an image or unreadable', async (t) => {
  for (const name of Object.keys(heads)) {
    const whole = (await file(name)).subarray(0, 600)
    const broken = fc.tuple(fc.nat(600), fc.nat(60), fc.nat(255)).map(([end, at, value]) => {
      const bytes = whole.slice(0, end)
      if (at < end) bytes[at] = value
      return bytes
    })
    fc.assert(
      fc.property(broken, (bytes) => {
        const error = thrownBy(() => openImage(bytes))
        return error === null || error instanceof Unreadable
      }),
    )
  }
  t.pass('nothing else was thrown')
})

const claiming = (size: number): Readonly<Record<string, Buffer>> => {
  const sides = (write: (side: Buffer) => void, bytes: number) => {
    const side = Buffer.alloc(bytes)
    write(side)
    return Buffer.concat([side, side])
  }
  const four = sides((side) => side.writeUInt32BE(size), 4)
  const two = (little: boolean) => sides((side) => (little ? side.writeUInt16LE(size) : side.writeUInt16BE(size)), 2)
  const tag = (name: number) => [name & 255, name >> 8, 4, 0, 1, 0, 0, 0, size & 255, size >> 8, 0, 0]
  return {
    png: Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'), four, Buffer.alloc(99)]),
    gif: Buffer.concat([Buffer.from('GIF89a'), two(true), Buffer.alloc(99)]),
    jpeg: Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xc0, 0, 17, 8]), two(false), Buffer.alloc(99)]),
    tiff: Buffer.from([73, 73, 42, 0, 8, 0, 0, 0, 2, 0, ...tag(0x100), ...tag(0x101), 0, 0, 0, 0]),
  }
}

t.test('more than forty megapixels are refused before anything is unpacked', async (t) => {
  for (const [format, bytes] of Object.entries(claiming(6000)))
    t.equal(openImage(bytes).format, format, `${format} of 36 megapixels`)
  const clock = quietClock()
  for (const [format, bytes] of Object.entries(claiming(40_000)))
    await t.rejects(readImage(bytes, soon()), Unreadable, format)
  const took = clock()
  // Decoding one of them takes many seconds.
  t.ok(took < 2_000, `${took.toFixed(1)} ms for all`)
})

t.test('draws upright, on white, at a bounded size', { skip }, async (t) => {
  const turned = openImage(await file('order-turned-by-exif.jpg'))
  const small = await drawImage(turned, { colours: 'rgb', longest: 100 }, soon())
  t.same([small.width, small.height, small.bytes.length], [100, 26, 7800], 'lying')
  const clear = openImage(await file('black-on-transparent.png'))
  const { bytes, width } = await drawImage(clear, { colours: 'grey', longest: 3400, enlarge: true }, soon())
  t.equal(width, 2 * clear.width, 'twice as large')
  t.same([bytes[0], Math.min(...bytes) < 60], [255, true], 'black words on white')
  const fax = openImage(await file('two-pages-of-fax.tiff'))
  const pages = await Promise.all([1, 2].map((page) => drawImage(fax, { colours: 'grey', longest: 60, page }, soon())))
  t.notSame(pages[0]!.bytes, pages[1]!.bytes, 'each page is its own')
  const broken = Buffer.concat([(await file('order.png')).subarray(0, 60), Buffer.alloc(500)])
  await t.rejects(drawImage(openImage(broken), { colours: 'grey', longest: 100 }, soon()), Unreadable)
})

t.test('draws a big-endian TIFF whose colours and transparency have four bits', { skip }, async (t) => {
  const four = await file('four-bits-by-imagemagick.tiff')
  t.same([...four.subarray(0, 4)], [0x4d, 0x4d, 0, 42], 'its numbers are big-endian')
  const eight = await drawImage(
    openImage(await file('black-on-transparent.png')),
    { colours: 'grey', longest: 300 },
    soon(),
  )
  const drawn = await drawImage(openImage(four), { colours: 'grey', longest: 300 }, soon())
  t.same([drawn.width, drawn.height], [eight.width, eight.height])
  const furthest = drawn.bytes.reduce((most, shade, at) => Math.max(most, Math.abs(shade - eight.bytes[at]!)), 0)
  t.ok(furthest <= 17, `${furthest} shades apart`)
  t.equal((await readImage(four, soon())).text, 'Clear ground')
  const kept = Buffer.from(four)
  t.same((await drawImage(openImage(kept), { colours: 'grey', longest: 300 }, soon())).bytes, drawn.bytes)
  t.ok(kept.equals(four), 'the bytes stay as they are')
})

t.test('a TIFF whose form the decoder draws blank is refused with the form to save', { skip }, async (t) => {
  t.equal((await readImage(await file('strips-by-libtiff.tiff'), soon())).text, 'Clear ground')
  for (const name of [
    'tiles-by-libtiff.tiff',
    'jpeg-by-imagemagick.tiff',
    'half-floats-by-tifffile.tiff',
    'lab-by-pillow.tiff',
  ]) {
    const error: unknown = await readImage(await file(name), soon()).catch((error: unknown) => error)
    t.ok(error instanceof Unreadable, name)
    t.match(error, { validator: { format: /^Expected a TIFF of strips/ } }, name)
  }
  // The same picture in an unknown packing, and with its list of sample formats outside of the file.
  const strips = Buffer.from(await file('strips-by-libtiff.tiff'))
  const packed = Buffer.from(strips)
  const directory = strips.readUInt32LE(4)
  const count = strips.readUInt16LE(directory)
  const entries = Array.from({ length: count }, (_, at) => directory + 2 + 12 * at)
  packed.writeUInt16LE(50000, entries.find((at) => strips.readUInt16LE(at) === 259)! + 8)
  await t.rejects(readImage(packed, soon()), Unreadable, 'an unknown packing')
  const last = entries.at(-1)!
  strips.writeUInt16LE(339, last)
  strips.writeUInt32LE(3, last + 4)
  strips.writeUInt32LE(1e9, last + 8)
  await t.rejects(readImage(strips, soon()), Unreadable, 'a list outside of the file')
})

t.test('a picture of a form that nothing here draws is refused with the forms to save', async (t) => {
  for (const name of ['big-by-pillow.tiff', 'clear-by-pillow.avif']) {
    const bytes = await file(name)
    t.equal(kindOf({ name: 'photo', mime: '', bytes }), 'image', name)
    t.match(
      thrownBy(() => openImage(bytes)),
      { validator: { format: /^Expected a PNG, JPEG/ } },
      name,
    )
  }
  for (const brand of ['heic', 'heix', 'hevc', 'mif1', 'avis']) {
    const bytes = Buffer.from(`\0\0\0\x18ftyp${brand}\0\0\0\0`, 'latin1')
    t.equal(kindOf({ name: 'photo', mime: '', bytes }), 'image', brand)
  }
  const film = Buffer.from('\0\0\0\x18ftypisom\0\0\0\0', 'latin1')
  t.equal(kindOf({ name: 'film', mime: '', bytes: film }), 'document', 'a film is none')
})

t.test('reads a photo that lies on its side', { skip }, async (t) => {
  for (const name of ['order-turned-by-exif.jpg', 'order-turned-by-pillow.png', 'order-turned-by-pillow.webp']) {
    const { text, confidence, lines } = await readImage(await file(name), soon())
    t.match(text, /^Order 5521\n[^]*forty lanterns and nine coils of rope[^]*northern gate\.$/, name)
    t.ok(confidence > 0.85 && confidence <= 1, `${confidence}`)
    t.equal(lines[0]?.text, 'Order 5521')
  }
})

t.test('a picture turns by quarters', async (t) => {
  const picture = greyOf(Buffer.from('P5\n3 2\n255\nabcdef'))!
  const shown = ([1, 2, 3] as const).map((quarters) => Buffer.from(pgmOf(turned(picture, quarters))).toString())
  t.same(shown, ['P5\n2 3\n255\ndaebfc', 'P5\n3 2\n255\nfedcba', 'P5\n2 3\n255\ncfbead'])
  t.equal(turned(picture, 0), picture)
  for (const broken of ['no picture', 'P5\n3 2\n255\nabcde', 'P6\n1 2\n255\nabcdef'])
    t.equal(greyOf(Buffer.from(broken)), null, broken)
})

t.test('reads a page that was scanned from any side', { skip }, async (t) => {
  const image = openImage(await file('order.png'))
  const { width, height, bytes } = await drawImage(image, { colours: 'grey', longest: 1700, enlarge: true }, soon())
  const sides = ([1, 2] as const).map((quarters) => pgmOf(turned({ width, height, bytes }, quarters)))
  for (const { text } of await readPictures(sides, soon())) t.match(text, /forty lanterns and nine coils of rope/)
})

t.test('without a decoder the engine reads its own formats, and other formats name the missing program', async (t) => {
  withoutPrograms(t)
  t.match((await readImage(await file('order.png'), soon())).text, /forty lanterns/)
  const error: unknown = await readImage(await file('order.webp'), soon()).catch((error: unknown) => error)
  t.ok(error instanceof Unconfigured, 'as unconfigured')
  t.match(error, { validator: { ffmpeg: 'Expected to be installed' } })
})

t.test('a caller that leaves leaves no process behind', { skip: process.platform !== 'linux' }, async (t) => {
  const children = () => readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').length
  // Those of the tests before may still be on their way out.
  let before = children()
  for (let calm = 0; calm < 10; calm++) {
    await sleep(50)
    if (children() !== before) calm = 0
    before = children()
  }
  const side = 1500
  const noise = Buffer.from(Array.from({ length: side * side }, (_, at) => (at * at * 2654435761) >>> 24))
  const leaving = new AbortController()
  const reading = readPictures([Buffer.concat([Buffer.from(`P5\n${side} ${side}\n255\n`), noise])], leaving.signal)
  const reason = new Error('left')
  const left = t.rejects(reading, reason)
  for (let tries = 0; children() <= before && tries < 500; tries++) await sleep(20)
  t.ok(children() > before, 'the work has a process of its own')
  leaving.abort(reason)
  await left
  for (let tries = 0; children() > before && tries < 500; tries++) await sleep(20)
  t.ok(children() <= before, 'and it is gone')
})
