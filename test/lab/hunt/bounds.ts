import { post } from '../../hostile/attacks.ts'
import { spentBy } from './processes.ts'
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

/** CPU ms of the main loop and MiB above what the gateway has at rest, the most of three times. */
const measured = async (stage: Stage, path: string, body: Buffer): Promise<string> => {
  let [ms, bytes, status] = [0, 0, '']
  for (let time = 0; time < 3; time++) {
    await stage.watch.begin()
    const before = spentBy(stage.pids.gateway)
    status = String((await post(stage, path, body)).status)
    ms = Math.max(ms, spentBy(stage.pids.gateway) - before)
    bytes = Math.max(bytes, (await stage.watch.end()).gateway.peak)
  }
  return `${status}: ${ms.toFixed(0)} ms, ${(bytes / mebibyte).toFixed(1)} MiB for ${(body.length / mebibyte).toFixed(1)} MiB`
}

const stage = await openStage()
try {
  for (const [name, [path, body]] of Object.entries(bodies))
    console.log(`${name}: ${await measured(stage, path, body())}`)
} finally {
  await stage.close()
}
