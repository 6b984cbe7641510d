import './fakes/unwatched.ts'
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { killed } from './fakes/killed.ts'
import { replacedSizes } from './fakes/replacing-writer.ts'
import { startS3 } from './fakes/s3.ts'
import { chance } from './lab/hunt/damage.ts'
import { isWhole } from './whole.ts'

const seed = Number(process.env['SEALGATE_SEED'] ?? 4_242)
const server = await startS3()
t.teardown(() => server?.close())
const skip = server ? false : 'no S3 server here'

const writer = fileURLToPath(new URL('./fakes/replacing-writer.js', import.meta.url))

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

t.test('an object that is replaced while its writer is killed is one of both, and whole', { skip }, async (t) => {
  const below = chance(seed)
  const blobs = await place()
  for (let kill = 0; kill < (isWhole ? 10 : 3); kill++) {
    const child = spawn(process.execPath, [writer, JSON.stringify(blobs)], { stdio: ['ignore', 'pipe', 'inherit'] })
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
    t.ok(replacedSizes.includes(kept.length as never), `${kept.length} bytes`)
    t.ok(
      kept.every((byte) => byte === kept[0]),
      'of one writing',
    )
    const last = letters.at(-1)!.charCodeAt(0)
    const next = String.fromCharCode(last === 122 ? 97 : last + 1)
    t.ok([letters.at(-1), next].includes(letter), `acknowledged ${letters.at(-1)}, found ${letter}`)
  }
})
