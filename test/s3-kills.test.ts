import './fakes/unwatched.ts'
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { killed } from './fakes/killed.ts'
import { startS3 } from './fakes/s3.ts'
import { chance } from './lab/hunt/damage.ts'
import { isWhole } from './whole.ts'

const seed = Number(process.env['SEALGATE_SEED'] ?? 4_242)
const server = await startS3()
t.teardown(() => server?.close())
const skip = server ? false : 'no S3 server here'

const place = async () => {
  const { endpoint, region, accessKeyId, secretAccessKey } = server!
  return { bucket: await server!.bucket(), endpoint, region, accessKeyId, secretAccessKey }
}

t.test('a gateway that is killed again and again loses nothing in S3, and mixes up nothing', { skip }, async (t) => {
  const kills = isWhole ? 20 : 3
  const blobs = await place()
  const outcome = await killed(kills, t.testdir(), { blobs: { use: 's3', ...blobs }, large: 9 * 1024 * 1024 })
  t.match(outcome, { kills, lost: 0, broken: 0, left: 0 })
  t.ok(outcome.acknowledged >= kills, `${outcome.acknowledged} uploads were acknowledged`)
})

/** A writer whose object is of one letter: it replaces the object as often as it can, and prints each letter that S3 acknowledged. */
const writer = (blobs: object) => `
  const from = (path) => import(${JSON.stringify(new URL('..', import.meta.url).href)} + path)
  const { clock, fetch, log, random } = await from('adapters/production/platform.js')
  const { use } = await from('core/plugin.js')
  const { BlobStore } = await from('core/ports/blob-store.js')
  const { default: s3 } = await from('plugins/storage/s3.js')
  const { fitted } = await from('test/fitted.js')
  const parts = [use(fetch), use(clock), use(random), use(log, { level: 'silent' }), use(s3, ${JSON.stringify(blobs)})]
  const { store } = fitted(...parts).supply({ store: BlobStore })
  const bytes = async function* (letter, size) { for (let at = 0; at < size; at += 65536) yield Buffer.alloc(Math.min(65536, size - at), letter) }
  for (let turn = 0; ; turn++) {
    const letter = String.fromCharCode(97 + turn % 26)
    await store.put('encrypted/one', bytes(letter, turn % 2 === 0 ? 9 * 2 ** 20 : 300_000))
    process.stdout.write(letter)
  }`

t.test('an object that is replaced while its writer is killed is one of both, and whole', { skip }, async (t) => {
  const below = chance(seed)
  const blobs = await place()
  const sizes = [9 * 2 ** 20, 300_000]
  for (let kill = 0; kill < (isWhole ? 10 : 3); kill++) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', writer(blobs)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.teardown(() => child.kill('SIGKILL'))
    let letters = ''
    const first = new Promise((resolve) => child.stdout.on('data', (part) => resolve((letters += part))))
    await first
    await sleep(below(400))
    const ended = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGKILL')
    await ended
    const kept = Buffer.from(await (await server!.ask(`${blobs.bucket}/encrypted/one`)).arrayBuffer())
    const letter = String.fromCharCode(kept[0]!)
    t.ok(sizes.includes(kept.length), `${kept.length} bytes`)
    t.ok(
      kept.every((byte) => byte === kept[0]),
      'of one writing',
    )
    const last = letters.at(-1)!.charCodeAt(0)
    const next = String.fromCharCode(last === 122 ? 97 : last + 1)
    t.ok([letters.at(-1), next].includes(letter), `acknowledged ${letters.at(-1)}, found ${letter}`)
  }
})
