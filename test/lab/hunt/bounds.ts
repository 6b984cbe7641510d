import { randomBytes } from 'node:crypto'
import { Agent } from 'node:http'
import { formOf } from '../../fakes/uploads.ts'
import { inTinyChunks, post } from '../../hostile/attacks.ts'
import { spentBy } from './processes.ts'
import { send } from './send.ts'
import { type Stage, openStage } from './stage.ts'

const chat = '/v1/chat/completions'
const mebibyte = 1024 * 1024

const chatWith = (more: string): Buffer =>
  Buffer.from(`{"model":"chatting","messages":[{"role":"user","content":"a"}]${more}}`)
const times = (count: number, made: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => made(at)).join(',')
const members = (count: number): string => times(count, (at) => `"m${at}":0`)

/** A body just under each bound of the page on security. */
const bodies: Readonly<Record<string, readonly [path: string, body: () => Buffer]>> = {
  'bodies.chat': [
    chat,
    () => Buffer.from(`{"model":"chatting","messages":[{"role":"user","content":"${'a'.repeat(33_554_432 - 70)}"}]}`),
  ],
  'bodies.elements': [chat, () => chatWith(`,"more":[${times(99_900, () => '{}')}]`)],
  'bodies.members': [chat, () => chatWith(`,"more":[${times(24, () => `{${members(4_000)}}`)}]`)],
  'members of the body': [chat, () => chatWith(`,${members(250)}`)],
  nesting: [chat, () => chatWith(`,"more":${'['.repeat(120)}${']'.repeat(120)}`)],
  'a list of tokens': [
    '/v1/embeddings',
    () => Buffer.from(`{"model":"embedding","input":[${times(99_900, () => '1')}]}`),
  ],
  'a list of messages': [
    chat,
    () => Buffer.from(`{"model":"chatting","messages":[${times(24_000, () => '{"role":"user","content":"a"}')}]}`),
  ],
}

type Played = (stage: Stage) => Promise<{ readonly status: unknown; readonly bytes: number }>

const chunked: Played = async (stage) => {
  const agent = new Agent()
  const headers = { authorization: `Bearer ${stage.key}`, 'content-type': 'application/json' }
  const body = Buffer.from(chatWith(`,"user":"${'a'.repeat(mebibyte)}"`))
  const { status } = await send(agent, stage.base + chat, { method: 'POST', headers, body, chunk: 65 })
  agent.destroy()
  return { status, bytes: body.length }
}

const sent = async ({ base, key }: Stage, path: string, body: FormData, bytes: number) => {
  const headers = { authorization: `Bearer ${key}` }
  const { status } = await fetch(base + path, { method: 'POST', headers, body })
  return { status, bytes }
}

/** A form with a sound of so many bytes, and so many bytes of fields beside it. */
const hearing =
  (sound: number, beside: number): Played =>
  (stage) => {
    const fields = new FormData()
    fields.set('file', new Blob([new Uint8Array(sound)]), 'a.wav')
    fields.set('model', 'hearing')
    fields.set('prompt', ' '.repeat(beside))
    return sent(stage, '/v1/audio/transcriptions', fields, sound + beside)
  }

const storing =
  (bytes: number): Played =>
  (stage) =>
    sent(stage, '/files/encrypted/upload', formOf(randomBytes(bytes)), bytes)

const all: Readonly<Record<string, Played>> = {
  'tiny chunks': async (stage) => ({ status: '', bytes: await inTinyChunks(stage, chat, 10_000) }),
  'chunks of 65 bytes': chunked,
  'fields beside a file': hearing(4, 255 * 1024),
  'bodies.audio': hearing(24 * mebibyte, 4),
  'bodies.file': storing(99 * mebibyte),
  ...Object.fromEntries(
    Object.entries(bodies).map(([name, [path, made]]): [string, Played] => [
      name,
      async (stage) => {
        const body = made()
        return { status: (await post(stage, path, body)).status, bytes: body.length }
      },
    ]),
  ),
}

/** CPU ms of the main loop and MiB above what the gateway has at rest, the most of three times. */
const measured = async (stage: Stage, play: Played): Promise<string> => {
  let [ms, peak, told] = [0, 0, '']
  for (let time = 0; time < 3; time++) {
    await stage.watch.begin()
    const before = spentBy(stage.pids.gateway)
    const { status, bytes } = await play(stage)
    ms = Math.max(ms, spentBy(stage.pids.gateway) - before)
    peak = Math.max(peak, (await stage.watch.end()).gateway.peak)
    told = `${String(status)} for ${(bytes / mebibyte).toFixed(2)} MiB`
  }
  return `${ms.toFixed(0)} ms, ${(peak / mebibyte).toFixed(1)} MiB, ${told}`
}

const stage = await openStage()
try {
  for (const [name, play] of Object.entries(all)) console.log(`${name}: ${await measured(stage, play)}`)
} finally {
  await stage.close()
}
