import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { giveFilesTo, helperUser, type LimitedProcess, startLimited, endOf } from '../../shared/limited-process.ts'
import { Unreadable, Unconfigured } from '../../../core/errors.ts'
import { soundLanes } from '../../shared/job-lanes.ts'

/** In samples per second of all decoded sound. */
export const sampleRate = 16_000

/** In seconds: only this much is read, and a file that claims more than `mostClaimedSeconds` is refused. */
const mostSeconds = 2 * 60 * 60
const mostClaimedSeconds = 4 * 60 * 60

/** In samples of a block. */
const block = 10 * sampleRate

/** In ms of real time. A decoder mostly waits for its reader. */
const patienceMs = { probe: 8_000, decode: 30 * 60_000 }

/** Formats that contain only sound, and nothing that makes the decoder open further files. */
const formats =
  'mp3,ogg,flac,wav,w64,mov,matroska,aac,loas,ac3,eac3,dts,amr,amrnb,amrwb,aiff,caf,au,' +
  'asf,avi,flv,mpeg,mpegts,wv,ape,tta,gsm,voc,oma,tak'

/** Only files and only these formats: a playlist could otherwise name other files or addresses. */
const careful = ['-protocol_whitelist', 'file', '-format_whitelist', formats]

/** What ffprobe tells of a file before any of its sound is decoded. */
export interface AudioFacts {
  /** ffmpeg's name of the format; the first name of several. */
  readonly format: string
  /** The file's own claim; null without one. */
  readonly seconds: number | null
}

/** The fields change while the blocks are read. */
export interface Decoded {
  /** In seconds of the blocks read so far. */
  seconds: number
  /** True when the sound continues after the last block. */
  truncated: boolean
  /**
   * One channel, from -1 to 1, in blocks of ten seconds; the last block may be shorter. The blocks can be read once;
   * the reader goes to the end or calls `return`.
   */
  blocks(signal: AbortSignal): AsyncGenerator<Float32Array, void>
}

/** The facts of a file's sound track. Throws Unreadable without one, and for a claim of over four hours. */
export const probeAudio = (bytes: Uint8Array, signal: AbortSignal): Promise<AudioFacts> =>
  soundLanes.run(() => onDisk(bytes, (laid) => factsOf(bytes, laid, signal)), signal)

/** The sound of any audio or video file, up to `seconds`. Reading throws the errors of `probeAudio`. */
export const decodeAudio = (bytes: Uint8Array, seconds = mostSeconds): Decoded => {
  const decoded = { seconds: 0, truncated: false, blocks }
  return decoded

  async function* blocks(signal: AbortSignal): AsyncGenerator<Float32Array, void> {
    const leave = await soundLanes.enter(signal)
    let laid: Laid | null = null
    try {
      laid = await laidDown(bytes)
      await factsOf(bytes, laid, signal)
      let room = seconds * sampleRate
      for await (const samples of blocksOf(laid, seconds, signal)) {
        decoded.truncated = samples.length > room
        const some = samples.subarray(0, room)
        room -= some.length
        decoded.seconds += some.length / sampleRate
        if (some.length > 0) yield some
        if (decoded.truncated) return
      }
    } finally {
      await laid?.remove()
      leave()
    }
  }
}

const factsOf = async (bytes: Uint8Array, { source, user }: Laid, signal: AbortSignal): Promise<AudioFacts> => {
  if (claimOf(bytes) > mostClaimedSeconds) throw new Unreadable()
  const wanted = 'format=format_name,duration:stream=codec_type,duration'
  const given = ['-v', 'quiet', ...careful, '-select_streams', 'a:0', '-show_entries', wanted, '-of', 'json', source]
  let output = ''
  for await (const part of outputOf({ program: 'ffprobe', given, user, patience: patienceMs.probe }, signal)) {
    output += Buffer.from(part).toString('latin1')
    if (output.length > 65_536) throw new Unreadable()
  }
  const { format, streams } = parsed(output)
  if (format?.format_name === undefined || streams?.length !== 1) throw new Unreadable()
  const claims = [format.duration, streams[0]?.duration].map(Number).filter((seconds) => seconds > 0)
  const seconds = claims.length > 0 ? Math.max(...claims) : null
  if (seconds !== null && seconds > mostClaimedSeconds) throw new Unreadable()
  return { format: format.format_name.split(',', 1).join(), seconds }
}

/** Chunks of a WAV file that are looked at: more of them stand before no sound. */
const mostChunks = 10_000

/**
 * In seconds, by the header of a WAV file, since ffprobe counts only the existing bytes. 0 for every other file, and
 * Infinity where the sound begins nowhere.
 */
const claimOf = (bytes: Uint8Array): number => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!/^RIFF.{4}WAVE/s.test(file.toString('latin1', 0, 12))) return 0
  let perSecond = 0
  let chunks = 0
  for (let at = 12; at + 8 <= file.length;) {
    if (++chunks > mostChunks) return Infinity
    const name = file.toString('latin1', at, at + 4)
    const length = file.readUInt32LE(at + 4)
    if (name === 'fmt ' && at + 20 <= file.length) perSecond = file.readUInt32LE(at + 16)
    // A recorder that does not know the length writes the largest possible number.
    if (name === 'data') return length < 0x7fff_0000 && perSecond > 0 ? length / perSecond : 0
    at += 8 + length + (length % 2)
  }
  return 0
}

interface ProbedFacts {
  readonly format?: { readonly format_name?: string; readonly duration?: string }
  readonly streams?: readonly { readonly duration?: string }[]
}

/** Throws Unreadable when the output of ffprobe was cut or is no JSON. */
const parsed = (text: string): ProbedFacts => {
  try {
    return JSON.parse(text) as ProbedFacts
  } catch (cause) {
    throw new Unreadable({ cause })
  }
}

async function* blocksOf(
  { source, user }: Laid,
  seconds: number,
  signal: AbortSignal,
): AsyncGenerator<Float32Array, void> {
  const given = [
    ...['-nostdin', '-hide_banner', '-loglevel', 'quiet', '-threads', '1', '-filter_threads', '1', ...careful],
    ...['-vn', '-sn', '-dn', '-i', source, '-map', '0:a:0', '-t', `${seconds + 1}`],
    ...['-ac', '1', '-ar', `${sampleRate}`, '-c:a', 'pcm_f32le', '-f', 'f32le', 'pipe:1'],
  ]
  let bytes = new Uint8Array(block * 4)
  let filled = 0
  for await (const part of outputOf({ program: 'ffmpeg', given, user, patience: patienceMs.decode }, signal)) {
    for (let taken = 0; taken < part.length;) {
      const some = part.subarray(taken, taken + bytes.length - filled)
      bytes.set(some, filled)
      filled += some.length
      taken += some.length
      if (filled < bytes.length) continue
      yield new Float32Array(bytes.buffer)
      bytes = new Uint8Array(block * 4)
      filled = 0
    }
  }
  if (filled >= 4) yield new Float32Array(bytes.buffer, 0, filled >> 2)
}

/** The file is removed at the end, whatever the work does. */
const onDisk = async <T>(bytes: Uint8Array, work: (laid: Laid) => Promise<T>): Promise<T> => {
  const laid = await laidDown(bytes)
  try {
    return await work(laid)
  } finally {
    await laid.remove()
  }
}

/** A sound file on the disk, and the system user that may read it. */
interface Laid {
  readonly source: string
  readonly user: number | null
  remove(): Promise<void>
}

/** On the disk, since decoders seek. Another user of the system may own the file while helpers run as that user. */
const laidDown = async (bytes: Uint8Array): Promise<Laid> => {
  const user = await helperUser()
  const folder = await mkdtemp(join(tmpdir(), 'sound-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  const source = join(folder, 'sound')
  try {
    await writeFile(source, bytes, { mode: 0o600 })
    await giveFilesTo(user, folder, source)
  } catch (error) {
    await remove()
    throw error
  }
  return { source, user, remove }
}

/** In seconds of work, for one process. */
const work = 300

/**
 * The output of ffmpeg or ffprobe as it arrives. A slow reader slows the process, and a reader that leaves ends it.
 * Other output is dropped. Throws Unreadable when the process fails or exceeds `patience` in ms, and Unconfigured when
 * it is not installed.
 */
async function* outputOf(
  { program, ...rest }: Omit<LimitedProcess, 'program' | 'work'> & { readonly program: 'ffmpeg' | 'ffprobe' },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  signal.throwIfAborted()
  const child = await startLimited({ program, ...rest, work }, ['ignore', 'pipe', 'ignore'], signal)
  const ended = endOf(child, signal)
  ended.catch(() => {})
  try {
    for await (const bytes of child.stdout ?? []) yield bytes as Uint8Array
    const end = await ended
    if (end === 'missing') throw new Unconfigured({ validator: { [program]: 'Expected to be installed' } })
    if (end === 'failed') throw new Unreadable()
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    child.kill('SIGKILL')
  }
}
