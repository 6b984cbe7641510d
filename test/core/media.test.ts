import { execFile, spawnSync } from 'node:child_process'
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { BadRequest } from '../../core/errors.ts'
import { imageSize } from '../../core/inference/image-size.ts'
import { checkImage, framesOf, picturesOf } from '../../core/inference/media.ts'
import { readMp4 } from '../../core/inference/mp4.ts'

const never = new AbortController().signal
const present = spawnSync('ffmpeg', ['-version'], { stdio: 'ignore' }).status === 0
const needing = present ? {} : { skip: 'there is no ffmpeg here' }

const run = promisify(execFile)
const folder = t.testdir()
// Everything that is sampled goes through a folder of our own, so that what is left behind can be seen.
const temporary = t.testdir({}) && join(folder)
process.env['TMPDIR'] = temporary

const make = async (name: string, ...given: string[]): Promise<Buffer> => {
  const file = join(folder, name)
  await run('ffmpeg', ['-nostdin', '-loglevel', 'error', '-y', ...given, file])
  const bytes = await readFile(file)
  await run('rm', [file])
  return bytes
}
const source = (seconds: number, size: string) => [
  '-f',
  'lavfi',
  '-i',
  `testsrc=duration=${seconds}:size=${size}:rate=8`,
]
const encoded = ['-c:v', 'mpeg4', '-pix_fmt', 'yuv420p']
const mp4 = (bytes: Uint8Array) => `data:video/mp4;base64,${Buffer.from(bytes).toString('base64')}`
const image = (kind: string, bytes: Uint8Array) => `data:image/${kind};base64,${Buffer.from(bytes).toString('base64')}`
const bytesOf = (url: string) => Buffer.from(url.slice(url.indexOf(',') + 1), 'base64')

/** A box with a header of eight bytes. */
const box = (type: string, ...content: Uint8Array[]) => {
  const body = Buffer.concat(content)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(body.length + 8)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, body])
}
const numbers = (...words: number[]) => {
  const bytes = Buffer.alloc(words.length * 4)
  words.forEach((word, index) => bytes.writeUInt32BE(word >>> 0, index * 4))
  return bytes
}
/** The boxes of a video, with nothing to decode in them. */
const claimed = ({
  seconds = 2,
  said = seconds,
  width = 640,
  height = 360,
  entry = [width, height],
  kind = 'vide',
} = {}) => {
  const visual = Buffer.alloc(78)
  visual.writeUInt16BE(entry[0]!, 24)
  visual.writeUInt16BE(entry[1]!, 26)
  const track = Buffer.alloc(84)
  track.writeUInt32BE((width * 65536) >>> 0, 76)
  track.writeUInt32BE((height * 65536) >>> 0, 80)
  const handler = Buffer.concat([numbers(0, 0), Buffer.from(kind), Buffer.alloc(13)])
  const table = box('stbl', box('stsd', numbers(0, 1), box('mp4v', visual)), box('stts', numbers(0, 1, seconds, 1000)))
  const media = box(
    'mdia',
    box('mdhd', numbers(0, 0, 0, 1000, said * 1000, 0)),
    box('hdlr', handler),
    box('minf', table),
  )
  const movie = box('mvhd', numbers(0, 0, 0, 1000, said * 1000), Buffer.alloc(80))
  return Buffer.concat([
    box('ftyp', Buffer.from('isom'), numbers(0)),
    box('moov', movie, box('trak', box('tkhd', track), media)),
  ])
}

t.test('the boxes of a video', async (t) => {
  t.same(readMp4(claimed()), { duration: 2, shown: 2, width: 640, height: 360 })
  t.match(readMp4(claimed({ seconds: 50, said: 1 })), { duration: 50 }, 'a header that says less than is there')
  t.match(readMp4(claimed({ seconds: 1, said: 50 })), { duration: 50, shown: 1 })
  t.match(
    readMp4(claimed({ entry: [4000, 3000] })),
    { width: 4000, height: 3000 },
    'a header that says less than the samples',
  )
  t.equal(readMp4(claimed({ kind: 'soun' })), null, 'sound alone')
  t.equal(readMp4(claimed({ seconds: 0 })), null)
  t.equal(readMp4(Buffer.concat([claimed(), box('moof')])), 'fragmented')
  t.equal(readMp4(Buffer.from('no video at all')), null)
  t.equal(readMp4(new Uint8Array()), null)
  const whole = claimed()
  const large = Buffer.concat([numbers(1), Buffer.from('free'), numbers(0, 24, 7, 7)])
  t.same(readMp4(Buffer.concat([whole, large])), readMp4(whole), 'sizes of 64 bits')
  t.equal(readMp4(Buffer.concat([whole, numbers(1), Buffer.from('free'), numbers(0xffffffff, 0xffffffff)])), null)
  t.equal(readMp4(Buffer.concat([whole, ...Array(5000).fill(box('free'))])), null, 'no end of boxes')
  for (let length = 0; length < whole.length; length++) {
    if (readMp4(whole.subarray(0, length)) !== null) t.fail(`cut at ${length}`)
  }
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.nat(255), (at, value) => {
      const bytes = Buffer.from(whole)
      bytes[at] = value
      readMp4(bytes)
    }),
    { numRuns: 5000 },
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void readMp4(bytes)),
    { numRuns: 2000 },
  )
})

t.test('limits of a video hold before anything is decoded', async (t) => {
  const refused = (bytes: Uint8Array, expected: RegExp, url = mp4(bytes)) =>
    t.rejects(
      framesOf(url, 'videos.0', never, 'no-such-decoder'),
      { constructor: BadRequest, validator: { 'videos.0': expected } },
      `${expected}`,
    )
  await refused(claimed({ seconds: 31 }), /30 seconds/)
  await refused(claimed({ seconds: 1, said: 31 }), /30 seconds/)
  await refused(claimed({ width: 1921 }), /1920 x 1080/)
  await refused(claimed({ width: 1100, height: 1100 }), /1920 x 1080/)
  await refused(claimed({ entry: [3840, 2160] }), /1920 x 1080/)
  await refused(Buffer.concat([claimed(), box('moof')]), /fragmented/)
  await refused(Buffer.alloc(0), /base64/)
  await refused(Buffer.alloc(10 * 1024 * 1024 + 1), /10 MiB/)
  await refused(Buffer.alloc(10 * 1024 * 1024), /MP4/)
  await refused(Buffer.from('x'), /base64/, 'data:video/mp4;base64,a b=')
  for (const upright of [claimed({ width: 1920, height: 1080, seconds: 30 }), claimed({ width: 1080, height: 1920 })]) {
    await t.rejects(framesOf(mp4(upright), 'videos.0', never, 'no-such-decoder'), {
      constructor: BadRequest,
      message: 'This deployment cannot sample video',
    })
  }
  t.same(await readdir(temporary), [], 'nothing is left behind')
})

t.test('four frames of a real video', needing, async (t) => {
  const colours = ['red', 'lime', 'blue', 'white'].flatMap((colour) => [
    '-f',
    'lavfi',
    '-i',
    `color=${colour}:size=320x180:rate=8:duration=1`,
  ])
  const joined = ['-filter_complex', '[0][1][2][3]concat=n=4', ...encoded]
  const bytes = await make('colours.mp4', ...colours, ...joined)
  t.match(readMp4(bytes), { duration: 4, shown: 4, width: 320, height: 180 })
  const frames = await framesOf(mp4(bytes), 'videos.0', never)
  t.equal(frames.length, 4)
  const seen: string[] = []
  for (const [index, frame] of frames.entries()) {
    t.match(frame, /^data:image\/jpeg;base64,/)
    t.same(imageSize('jpeg', bytesOf(frame)), { width: 320, height: 180 })
    const file = join(temporary, `${index}.jpg`)
    await writeFile(file, bytesOf(frame))
    const { stdout } = await run(
      'ffmpeg',
      ['-loglevel', 'error', '-i', file, '-vf', 'scale=1:1', '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-'],
      { encoding: 'buffer' },
    )
    seen.push([...stdout].map((it) => (it > 128 ? 1 : 0)).join(''))
    await run('rm', [file])
  }
  t.same(seen, ['100', '010', '001', '111'], 'one of each second, in order')
  t.same(await picturesOf({ images: [], videos: [mp4(bytes)] }, never), frames)
  t.same(await readdir(temporary), [], 'nothing is left behind')

  t.test('with its index behind, in a full size, or of one frame', async (t) => {
    const full = await make('full.mp4', ...source(1, '1920x1080'), ...encoded)
    t.match(readMp4(full), { width: 1920, height: 1080 })
    t.equal((await framesOf(mp4(full), 'videos.0', never)).length, 4)
    const still = await make(
      'still.mp4',
      ...source(1, '64x64'),
      ...encoded,
      '-frames:v',
      '1',
      '-movflags',
      '+faststart',
    )
    t.equal((await framesOf(mp4(still), 'videos.0', never)).length, 4)
    const sound = await make(
      'sound.mp4',
      ...source(1, '64x64'),
      '-f',
      'lavfi',
      '-i',
      'sine=duration=3',
      ...encoded,
      '-c:a',
      'aac',
    )
    t.match(readMp4(sound), { shown: 1 }, 'frames are spread over what is shown')
    t.equal((await framesOf(mp4(sound), 'videos.0', never)).length, 4)
  })

  t.test('what the limits keep out', async (t) => {
    const fragmented = await make(
      'fragmented.mp4',
      ...source(1, '64x64'),
      ...encoded,
      '-movflags',
      'frag_keyframe+empty_moov',
    )
    t.equal(readMp4(fragmented), 'fragmented')
    const long = await make('long.mp4', ...source(31, '64x64'), ...encoded)
    await t.rejects(framesOf(mp4(long), 'videos.0', never), { constructor: BadRequest, message: /30 seconds/ })
    const wide = await make('wide.mp4', ...source(1, '2048x64'), ...encoded)
    await t.rejects(framesOf(mp4(wide), 'videos.0', never), { constructor: BadRequest, message: /1920 x 1080/ })
  })

  t.test('a file whose pictures are none', async (t) => {
    await t.rejects(framesOf(mp4(claimed()), 'videos.0', never), {
      constructor: BadRequest,
      message: 'The video could not be sampled',
    })
    const spoilt = Buffer.from(bytes)
    const data = spoilt.indexOf('mdat')
    spoilt.fill(0, data + 4, data + 4 + spoilt.readUInt32BE(data - 4) - 8)
    await t.rejects(framesOf(mp4(spoilt), 'videos.0', never), { constructor: BadRequest })
    t.same(await readdir(temporary), [])
  })
})

t.test('the decoder is held to its limits', async (t) => {
  const decoder = async (script: string) => {
    const file = join(folder, 'decoder')
    await writeFile(file, `#!/bin/sh\n${script}\n`)
    await chmod(file, 0o700)
    return file
  }
  const video = mp4(claimed())
  const told = join(folder, 'told')
  const seeing = await decoder(
    `{ ulimit -v; ulimit -t; env; for last; do :; done; stat -c %a "$(dirname "$last")"/video; stat -c %a "$(dirname "$last")"; } > ${told}; echo "$@" >> ${told}`,
  )
  process.env['SECRET_OF_OURS'] = 'secret'
  await t.rejects(
    framesOf(video, 'videos.0', never, seeing),
    { constructor: BadRequest, message: 'The video could not be sampled' },
    'it wrote nothing',
  )
  const text = await readFile(told, 'utf8')
  t.match(text, /^2097152\n10\n/)
  t.match(text, /\n600\n700\n/)
  t.notMatch(text, /secret/)
  t.match(text, /-nostdin .*-protocol_whitelist file,pipe -f mov .*-ss 0\.250 .*-ss 0\.750 .*-ss 1\.250 .*-ss 1\.750 /)

  const slow = await decoder('exec sleep 5')
  const leaving = new AbortController()
  const began = performance.now()
  const going = framesOf(video, 'videos.0', leaving.signal, slow)
  setTimeout(() => leaving.abort(new Error('left')), 100)
  await t.rejects(going, { message: 'left' })
  t.ok(performance.now() - began < 2000)
  await t.rejects(framesOf(video, 'videos.0', leaving.signal, slow), { message: 'left' })

  const broken = await decoder('exit 3')
  await t.rejects(framesOf(video, 'videos.0', never, broken), {
    constructor: BadRequest,
    message: 'The video could not be sampled',
  })
  t.same((await readdir(temporary)).sort(), ['decoder', 'told'], 'nothing is left behind')
})

t.test('images', async (t) => {
  const refused = (url: string, expected: RegExp) =>
    t.throws(
      () => checkImage(url, 'images.0'),
      { constructor: BadRequest, validator: { 'images.0': expected } },
      `${expected}`,
    )
  const png = (width: number, height: number) =>
    Buffer.concat([
      Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
      numbers(13),
      Buffer.from('IHDR'),
      numbers(width, height),
      Buffer.alloc(9),
    ])
  checkImage(image('png', png(8192, 8192)), 'images.0')
  refused(image('png', png(8193, 1)), /8192 x 8192/)
  refused(image('png', png(1, 8193)), /8192 x 8192/)
  refused(image('png', png(0, 5)), /of the kind/)
  refused(image('jpeg', png(5, 5)), /of the kind/)
  refused(image('png', png(5, 5).subarray(0, 20)), /of the kind/)
  refused(image('png', Buffer.alloc(0)), /base64/)
  refused('data:image/png;base64,a-b_', /base64/)
  refused('data:image/png;base64,AAA', /base64/)
  refused('data:image/svg+xml;base64,AAAA', /base64/)
  const heavy = Buffer.alloc(20 * 1024 * 1024)
  png(5, 5).copy(heavy)
  checkImage(image('png', heavy), 'images.0')
  refused(image('png', Buffer.concat([heavy, Buffer.alloc(1)])), /20 MiB/)

  const gif = Buffer.concat([Buffer.from('GIF89a'), Buffer.from([10, 0, 20, 0, 0, 0, 0])])
  t.same(imageSize('gif', gif), { width: 10, height: 20 })
  const extended = Buffer.concat([
    Buffer.from('RIFF0000WEBPVP8X'),
    Buffer.alloc(8),
    Buffer.from([0xff, 0x1f, 0, 0x00, 0x20, 0]),
  ])
  t.same(imageSize('webp', extended), { width: 8192, height: 8193 })
  const lossless = Buffer.concat([
    Buffer.from('RIFF0000WEBPVP8L0000'),
    Buffer.from([0x2f]),
    Buffer.from([99 & 255, (49 << 6) & 255, 49 >> 2, 0]),
  ])
  t.same(imageSize('webp', lossless), { width: 100, height: 50 })
  const lossy = Buffer.concat([Buffer.from('RIFF0000WEBPVP8 0000000'), Buffer.from([0x9d, 0x01, 0x2a, 100, 0, 50, 0])])
  t.same(imageSize('webp', lossy), { width: 100, height: 50 })
  t.equal(imageSize('webp', Buffer.from('RIFF0000WEBPVP9 0000')), null)
  t.equal(imageSize('jpeg', Buffer.from([0xff, 0xd8, 0xff, 0xda, 0, 4])), null)
  t.equal(
    imageSize('jpeg', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0xff, 0xe0])),
    null,
    'an empty segment does not stop it',
  )
  for (const kind of ['png', 'jpeg', 'webp', 'gif'] as const) {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => void imageSize(kind, bytes)),
      { numRuns: 500 },
    )
  }

  t.test('as they are made', needing, async (t) => {
    const one = [...source(1, '48x32'), '-frames:v', '1']
    for (const [kind, name, ...more] of [
      ['png', 'a.png'],
      ['jpeg', 'a.jpg'],
      ['gif', 'a.gif'],
    ] as const) {
      const bytes = await make(name, ...one, ...more)
      t.same(imageSize(kind, bytes), { width: 48, height: 32 }, kind)
      const url = image(kind, bytes)
      t.same(await picturesOf({ images: [url], videos: [] }, never), [url], 'goes on as it came')
    }
  })
})
