import '../../../fakes/unwatched.ts'
import { execFile, execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { BadRequest } from '../../../../core/errors.ts'
import { framesOf, picturesOf } from '../../../../plugins/shared/decisions/media.ts'
import { readMp4 } from '../../../../plugins/shared/video/mp4.ts'
import { succeeds } from '../../../helpers.ts'

const run = promisify(execFile)
const never = new AbortController().signal
const there = await succeeds(run('ffmpeg', ['-version']))
const skip = there ? false : 'no ffmpeg here'

/** Two seconds a colour, with a tone beneath. */
const colours = ['red', 'green', 'blue', 'white']
const made = async (t: Test, more: readonly string[] = [], seconds = 2, size = '64x48'): Promise<Buffer> => {
  const path = join(t.testdir(), 'made.mp4')
  const inputs = colours.flatMap((colour) => ['-f', 'lavfi', '-i', `color=${colour}:s=${size}:r=10:d=${seconds}`])
  const joined = ['-filter_complex', '[0][1][2][3]concat=n=4:v=1:a=0[v]', '-map', '[v]', '-map', '4:a']
  const tone = ['-f', 'lavfi', '-i', `sine=d=${4 * seconds}`]
  const coded = ['-c:v', 'mpeg4', '-g', '10', '-c:a', 'aac', ...more, path]
  await run('ffmpeg', ['-v', 'error', '-y', ...inputs, ...tone, ...joined, ...coded])
  return readFile(path)
}
const urlOf = (bytes: Uint8Array) => `data:video/mp4;base64,${Buffer.from(bytes).toString('base64')}`

/** The colour of a picture on the whole, as three bytes. */
const colourOf = (url: string): readonly number[] => {
  const raw = ['-v', 'error', '-f', 'mjpeg', '-i', '-', '-vf', 'scale=1:1', '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-']
  return [...execFileSync('ffmpeg', raw, { input: Buffer.from(url.slice(url.indexOf(',') + 1), 'base64') })]
}
const nearest = ([red = 0, green = 0, blue = 0]: readonly number[]): string => {
  if (Math.min(red, green, blue) > 128) return 'white'
  return red > green && red > blue ? 'red' : green > blue ? 'green' : 'blue'
}

t.test('tracks that share an id would each be all of it', { skip }, async (t) => {
  const bytes = await made(t)
  const places = [...bytes.toString('latin1').matchAll(/tkhd/g)].map(({ index }) => index + 4 + 12)
  t.equal(places.length, 2, 'pictures and sound')
  t.ok(readMp4(bytes))
  bytes.writeUInt32BE(bytes.readUInt32BE(places[0]), places[1])
  t.equal(readMp4(bytes), null)
})

t.test('four frames, whole or in fragments', { skip }, async (t) => {
  const kinds: Readonly<Record<string, readonly string[]>> = {
    whole: [],
    'its index ahead': ['-movflags', 'faststart'],
    'a fragment a key frame': ['-movflags', 'frag_keyframe+empty_moov'],
    'a fragment a key frame, each with its own base': ['-movflags', 'frag_keyframe+empty_moov+default_base_moof'],
    'a fragment a picture': ['-movflags', 'frag_every_frame+empty_moov'],
    'an index, and fragments behind it': ['-movflags', 'frag_keyframe'],
  }
  for (const [kind, flags] of Object.entries(kinds)) {
    const bytes = await made(t, flags)
    const told = readMp4(bytes)!
    t.ok(Math.abs(told.shown - 8) < 0.11, `${kind}: shown for ${told.shown} s`)
    t.ok(told.duration >= told.shown && told.duration < 8.5, `${kind}: ${told.duration} s`)
    t.same([told.width, told.height], [64, 48])
    t.ok(Math.abs(told.since(3.05) - 3) < 0.06, `${kind}: since ${told.since(3.05)}`)
    t.ok(told.since(100) >= 7.8 && told.since(100) < 8.1, 'the last picture stays')
    const frames = await framesOf(urlOf(bytes), 'videos.0', never)
    t.same(
      frames.map((frame) => nearest(colourOf(frame))),
      colours,
      kind,
    )
  }
})

t.test('limits are known before anything is decoded', { skip }, async (t) => {
  const nobody = '/nowhere/decoder'
  const refused = async (bytes: Uint8Array, expected: RegExp) => {
    const work = framesOf(urlOf(bytes), 'videos.0', never, nobody)
    const fault: any = await work.catch((fault: unknown) => fault)
    t.ok(fault instanceof BadRequest, `${fault}`)
    t.match(fault.validator, { 'videos.0': expected })
  }
  const fragments = ['-movflags', 'frag_keyframe+empty_moov']
  await refused(await made(t, [], 8), /30 seconds/)
  await refused(await made(t, fragments, 8), /30 seconds/)
  await refused(await made(t, [], 1, '1930x1000'), /1920 x 1080/)
  await refused(await made(t, fragments, 1, '1100x1100'), /1920 x 1080/)
  const portrait = await framesOf(urlOf(await made(t, [], 1, '1080x1920')), 'videos.0', never)
  t.equal(portrait.length, 4, 'a portrait video of as many pixels is taken')
  await refused(Buffer.alloc(100), /an MP4 video/)
  await refused(Buffer.alloc(10 * 1024 * 1024 + 1), /10 MiB/)
  // Times that a fragment claims count as much as those of the header.
  const late = await made(t, fragments)
  const at = late.lastIndexOf('tfdt')
  late.writeUInt32BE(0x7fffffff, at + (late[at + 4] === 1 ? 12 : 8))
  await refused(late, /30 seconds/)
  const without = await made(t)
  await t.rejects(framesOf(urlOf(without), 'videos.0', never, nobody), {
    message: 'This deployment cannot sample video',
  })
  const one = await picturesOf({ images: [], videos: [urlOf(without)] }, never)
  t.equal(one.length, 4)
})

t.test('broken files are no files', { skip }, async (t) => {
  for (const flags of [[], ['-movflags', 'frag_keyframe+empty_moov']]) {
    const bytes = await made(t, flags, 1)
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(255), fc.nat(bytes.length), (at, value, end) => {
        const spoilt = Buffer.from(bytes.subarray(0, Math.max(end, at + 1)))
        spoilt[at] = value
        const began = process.cpuUsage()
        const told = readMp4(spoilt)
        if (told !== null && !(told.shown > 0 && told.duration >= 0)) throw new Error(JSON.stringify(told))
        const { user, system } = process.cpuUsage(began)
        if (user + system > 1_000_000) throw new Error('too slow')
      }),
      { numRuns: 3000 },
    )
  }
  t.pass('three thousand times each')
})
