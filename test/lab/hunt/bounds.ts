import { randomBytes } from 'node:crypto'
import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { formOf } from '../../fakes/uploads.ts'
import { connected, inTinyChunks, post } from '../../hostile/attacks.ts'
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
  'texts of an embedding': [
    '/v1/embeddings',
    () => Buffer.from(`{"model":"embedding","dimensions":1536,"input":[${times(1_000, () => '"a"')}]}`),
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

/** As many connections as four addresses have, each of which was answered once. */
const connecting =
  (each: number): Played =>
  async (stage) => {
    const addresses = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5']
    const line = 'GET /health/live HTTP/1.1\r\nhost: a\r\n\r\n'
    const sockets = []
    for (const address of addresses)
      for (let at = 0; at < each; at++) {
        const socket = await connected(stage, address)
        socket.write(line)
        await new Promise((resolve) => socket.once('data', resolve).once('close', resolve))
        sockets.push(socket)
      }
    const open = sockets.filter(({ closed }) => !closed).length
    for (const socket of sockets) socket.destroy()
    return { status: `${open} connections`, bytes: sockets.length * line.length }
  }

/** A head of 31 KiB that is there after so many ms, a piece at a time. */
const slowHead =
  (ms: number): Played =>
  async (stage) => {
    const pieces = 31
    const socket = await connected(stage)
    socket.write('GET /health/live HTTP/1.1\r\nhost: a\r\n')
    for (let at = 0; at < pieces; at++) {
      await sleep(ms / pieces)
      socket.write(`x-${at}: ${'a'.repeat(1_000)}\r\n`)
    }
    socket.write('\r\n')
    const [status] = await new Promise<string[]>((resolve) =>
      socket.once('data', (part: Buffer) => resolve(part.toString('latin1').split('\r\n'))),
    )
    socket.destroy()
    return { status, bytes: pieces * 1_024 }
  }

const all: Readonly<Record<string, Played>> = {
  'tiny chunks': async (stage) => ({ status: '', bytes: await inTinyChunks(stage, chat, 10_000) }),
  'chunks of 65 bytes': chunked,
  'fields beside a file': hearing(4, 255 * 1024),
  'bodies.audio': hearing(24 * mebibyte, 4),
  'connections.most': connecting(4_000),
  'connections.head': slowHead(14_000),
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

/** CPU ms of the main loop for a ms by the clock while the watch alone asks it. */
const idle = async ({ pids }: Stage): Promise<number> => {
  const [before, began] = [spentBy(pids.gateway), performance.now()]
  await sleep(3_000)
  return (spentBy(pids.gateway) - before) / (performance.now() - began)
}

/** CPU ms of the main loop and MiB above what the gateway has at rest, the most of three times. */
const measured = async (stage: Stage, play: Played, rest: number): Promise<string> => {
  let [ms, peak, told] = [0, 0, '']
  for (let time = 0; time < 3; time++) {
    await stage.watch.begin()
    const [before, began] = [spentBy(stage.pids.gateway), performance.now()]
    const { status, bytes } = await play(stage)
    ms = Math.max(ms, spentBy(stage.pids.gateway) - before - rest * (performance.now() - began))
    peak = Math.max(peak, (await stage.watch.end()).gateway.peak)
    told = `${String(status)} for ${(bytes / mebibyte).toFixed(2)} MiB`
  }
  return `${ms.toFixed(0)} ms, ${(peak / mebibyte).toFixed(1)} MiB, ${told}`
}

/** Those that are named, or all. */
const names = process.argv.slice(2)
const stage = await openStage()
try {
  const rest = await idle(stage)
  for (const [name, play] of Object.entries(all))
    if (names.length === 0 || names.includes(name)) console.log(`${name}: ${await measured(stage, play, rest)}`)
} finally {
  await stage.close()
}
