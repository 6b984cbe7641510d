import '../../fakes/unwatched.ts'
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { constants, getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { BadRequest, Unreadable } from '../../../core/errors.ts'
import { type LimitedProcess, endOf, startLimited } from '../../../plugins/shared/limited-process.ts'
import { framesAt } from '../../../plugins/shared/video/video-frames.ts'
import { decodeAudio, probeAudio } from '../../../plugins/tools/shared/audio.ts'
import { listening } from '../../fakes/listening.ts'
import { quietClock } from '../../slowness.ts'
import { until } from '../../until.ts'

const run = promisify(execFile)
const soon = () => AbortSignal.timeout(60_000)
/** Asked of the system itself, so that a fence that nobody puts up is missed here. */
const rooms = ['--net', '--pid', '--fork', '--kill-child', '--mount-proc', 'true']
const givesRooms = process.getuid?.() === 0 && spawnSync('unshare', rooms).status === 0
const skip = givesRooms ? false : 'this system gives no fences'
const withoutDecoder = await run('ffmpeg', ['-version']).then(
  () => skip,
  () => 'no ffmpeg here',
)

/** A program that a file has taken over runs this script. */
const takenOver = (script: string, signal: AbortSignal, more: Partial<LimitedProcess> = {}): Promise<ChildProcess> =>
  startLimited(
    { program: '/bin/sh', given: ['-c', script], work: 20, patience: 20_000, ...more },
    ['pipe', 'pipe', 'ignore'],
    signal,
  )

const printed = async (starting: Promise<ChildProcess>, signal: AbortSignal): Promise<string> => {
  const child = await starting
  let text = ''
  child.stdout!.on('data', (part: Buffer) => (text += part.toString('latin1')))
  await endOf(child, signal)
  return text
}

/** Whether a process of the machine waits for so many seconds: a number that nobody else waits for. */
const waits = async (seconds: number): Promise<boolean> => {
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(processes.map((id) => readFile(`/proc/${id}/cmdline`, 'latin1').catch(() => '')))
  return lines.some((line) => line.startsWith(`sleep\0${seconds}\0`))
}

/** A script that leaves a process of a session of its own behind, and waits. */
const leaving = (seconds: number, then: string) => `setsid sleep ${seconds} & echo on; ${then}`

const begun = (child: ChildProcess) => new Promise((resolve) => child.stdout!.once('data', resolve))
const unique = () => randomInt(100_000, 900_000)

t.test('calls go before a decoder where the cores are few', { skip }, async (t) => {
  const priority = Number(await printed(takenOver('nice', soon()), soon()))
  t.equal(priority, getPriority() + constants.priority.PRIORITY_BELOW_NORMAL)
})

t.test('what a decoder starts ends with the call, however that ends', { skip }, async (t) => {
  const ends: Readonly<Record<string, (seconds: number) => Promise<unknown>>> = {
    'by itself': (seconds) => printed(takenOver(leaving(seconds, 'sleep 0.3'), soon()), soon()),
    'by its patience': (seconds) => printed(takenOver(leaving(seconds, 'cat'), soon(), { patience: 400 }), soon()),
    async 'by its caller'(seconds) {
      const caller = new AbortController()
      const child = await takenOver(leaving(seconds, 'cat'), caller.signal)
      const ended = endOf(child, caller.signal)
      await begun(child)
      t.ok(await until(() => waits(seconds)), 'the process is there')
      caller.abort(new Error('left'))
      await t.rejects(ended, { message: 'left' })
    },
  }
  for (const [name, end] of Object.entries(ends)) {
    const seconds = unique()
    await end(seconds)
    t.ok(await until(async () => !(await waits(seconds)), 5_000), name)
  }
})

t.test('what a decoder starts ends with a gateway that is killed', { skip }, async (t) => {
  const seconds = unique()
  const module = new URL('../../../plugins/shared/limited-process.js', import.meta.url)
  const given = JSON.stringify(['-c', leaving(seconds, 'sleep 99')])
  const script = `import { startLimited } from ${JSON.stringify(module.href)}
    startLimited({ program: '/bin/sh', given: ${given}, work: 20, patience: 60_000 }, ['pipe', 'ignore', 'ignore'], new AbortController().signal)`
  const gateway = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' })
  t.teardown(() => gateway.kill('SIGKILL'))
  t.ok(await until(() => waits(seconds)), 'the process is there')
  gateway.kill('SIGKILL')
  t.ok(await until(async () => !(await waits(seconds)), 5_000))
})

t.test('a decoder that was taken over has bounds for processes, memory, files and time', { skip }, async (t) => {
  const many = 'i=0; while [ $i -lt 300 ]; do sleep 9 & i=$((i+1)); echo one; done'
  const started = (await printed(takenOver(many, soon(), { patience: 3_000 }), soon())).split('\n').length
  t.ok(started > 20 && started < 80, `${started} processes`)
  const greedy = `exec ${process.execPath} -e 'const kept = []; for (;;) { kept.push(Buffer.alloc(2 ** 27, 1)); console.log(kept.length) }'`
  const pieces = (await printed(takenOver(greedy, soon()), soon())).trim().split('\n').length
  t.ok(pieces <= 16, `${pieces} times 128 MiB at most`)
  const folder = await open(t)
  const file = join(folder, 'filled')
  await printed(takenOver(`head -c 100000 /dev/zero > ${file}`, soon()), soon())
  t.equal(
    await readFile(file).then(
      ({ length }) => length,
      () => 0,
    ),
    0,
    'no byte of a file',
  )
  const clock = quietClock()
  await printed(takenOver('while :; do :; done', soon(), { work: 1 }), soon())
  t.ok(clock() < 5_000, 'a second of work')
})

t.test(
  'a decoder that was taken over sees no process but its own, reads no private file and has no network',
  { skip },
  async (t) => {
    const door = await listening(t, createServer(), '127.0.0.1')
    const folder = await open(t)
    const secret = join(folder, 'secret')
    await writeFile(secret, 'a secret', { mode: 0o600 })
    const script = `cat ${secret}; ls /proc | grep -c '^[0-9]'; exec ${process.execPath} -e '
    require("net").connect(${door.port}, "127.0.0.1").on("connect", () => console.log("reached")).on("error", () => console.log("alone"))'`
    const [count, network, ...rest] = (await printed(takenOver(script, soon()), soon())).trim().split('\n')
    t.ok(Number(count) <= 4, `${count} processes are seen`)
    t.equal(network, 'alone')
    t.same([door.sockets.length, rest], [0, []])
  },
)

/** A folder that each user of the machine may look into. */
const open = async (t: Test): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'fences-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o777)
  return folder
}

/** Files that name further files, and addresses. */
const naming = (file: string, port: number): Readonly<Record<string, string>> => {
  const list = (place: string) =>
    `#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:1,\n${place}\n#EXT-X-ENDLIST\n`
  const address = `http://127.0.0.1:${port}/loud.mp3`
  const mpd = (place: string) =>
    `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT1S"><Period><AdaptationSet mimeType="audio/mpeg"><Representation id="1" bandwidth="1"><BaseURL>${place}</BaseURL></Representation></AdaptationSet></Period></MPD>`
  return {
    'a playlist of a file': list(file),
    'a playlist of a file by its address': list(`file://${file}`),
    'a playlist of an address': list(address),
    'a playlist of joined files': list(`concat:${file}|${file}`),
    'a playlist with a key elsewhere': list(file).replace(
      '#EXTINF',
      `#EXT-X-KEY:METHOD=AES-128,URI="${address}"\n#EXTINF`,
    ),
    'a list of files': `ffconcat version 1.0\nfile '${file}'\n`,
    'a list of addresses': `ffconcat version 1.0\nfile '${address}'\n`,
    'a manifest of a file': mpd(file),
    'a manifest of an address': mpd(address),
    'a session of packets': `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio ${port} RTP/AVP 0\n`,
  }
}

t.test('no file makes ffmpeg read another one or ask an address', { skip: withoutDecoder }, async (t) => {
  const door = await listening(t, createServer(), '127.0.0.1')
  const folder = await open(t)
  const file = join(folder, 'loud.mp3')
  await run('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', 'sine=d=0.5', '-af', 'volume=8', file])
  await chmod(file, 0o644)
  const files = naming(file, door.port)

  const [playlist, list] = [join(folder, 'a.m3u8'), join(folder, 'b.m3u8')]
  await writeFile(playlist, files['a playlist of a file']!)
  await writeFile(list, files['a playlist of an address']!)
  const decoding = (source: string) =>
    run('ffmpeg', ['-v', 'quiet', '-protocol_whitelist', 'file,http,tcp', '-i', source, '-f', 's16le', '-'], {
      ...{ encoding: 'buffer', timeout: 2_000 },
    })
  t.ok((await decoding(playlist)).stdout.length > 10_000, 'ffmpeg itself reads the other file')
  await decoding(list).catch(() => undefined)
  t.ok(door.sockets.length > 0, 'and asks the address')
  const before = door.sockets.length

  const work = await open(t)
  const { TMPDIR } = process.env
  process.env['TMPDIR'] = work
  t.teardown(() => (TMPDIR === undefined ? delete process.env['TMPDIR'] : (process.env['TMPDIR'] = TMPDIR)))
  const heard = async (bytes: Uint8Array) => {
    for await (const block of decodeAudio(bytes).blocks(soon())) if (block.some((sample) => sample > 0.5)) return 'loud'
    return 'quiet'
  }
  t.equal(await heard(await readFile(file)), 'loud', 'a file of its own is heard')
  for (const [name, text] of Object.entries(files)) {
    const bytes = Buffer.from(text)
    await t.rejects(heard(bytes), Unreadable, `${name} as a sound`)
    await t.rejects(probeAudio(bytes, soon()), Unreadable, `${name}, probed`)
    await t.rejects(framesAt(bytes, [0], soon()), BadRequest, `${name} as a video`)
  }
  t.equal(door.sockets.length, before, 'nobody is asked')
  t.same(await readdir(work), [], 'no file stays')
})

t.test('no video is sampled from another file', { skip: withoutDecoder }, async (t) => {
  const folder = await open(t)
  const [file, list, sampled] = ['bright.mp4', 'list', 'sampled.jpg'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  // A seek finds a picture at once where each is whole.
  const white = ['-f', 'lavfi', '-i', 'color=white:s=64x64:d=1', '-pix_fmt', 'yuv420p', '-g', '1']
  await run('ffmpeg', ['-v', 'error', ...white, file])
  await chmod(file, 0o644)
  const [picture] = await framesAt(await readFile(file), [0], soon())
  t.ok((picture?.length ?? 0) > 100, 'a video of its own is sampled')

  const files = naming(file, 9)
  await writeFile(list, files['a playlist of a file']!)
  await run('ffmpeg', ['-v', 'error', '-protocol_whitelist', 'file', '-ss', '0', '-i', list, '-frames:v', '1', sampled])
  t.ok((await readFile(sampled)).length > 100, 'ffmpeg itself reads the other file')
  for (const [name, text] of Object.entries(files))
    await t.rejects(framesAt(Buffer.from(text), [0], soon()), BadRequest, name)
})
