import { members, repeatedIn } from '../hunt/bodies.ts'
import type { Envelope } from '../hunt/sealing.ts'
import { leftOpen, connected, pipelined, post, postSealed, unfinished } from './attacks.ts'
import { lanes } from './lanes.ts'
import { type Scene, mebibyte } from './scene.ts'

const chat = '/std/chat/completions'
const decision = '/compat/v1/decision'

/** `before`, then `unit` as often as it fits into so many bytes, then `after`. */
const body = (before: string, unit: string, after: string, bytes: number): Buffer =>
  repeatedIn(before, unit, after, bytes)

const emptyMessages = (bytes: number): Buffer => body('{"model":"chatting","messages":[', '{},', '{}]}', bytes)

/** One body to one route. */
const posting = (
  name: string,
  short: boolean,
  path: string,
  bytes: number,
  made: (bytes: number) => Buffer,
): Scene => ({
  name,
  short,
  async play(stage) {
    const body = made(bytes)
    await post(stage, path, body)
    return { sent: body.length }
  },
})

const sealing = (
  name: string,
  short: boolean,
  path: string,
  bytes: number,
  made: (bytes: number) => Buffer,
  envelope: Envelope,
): Scene => ({
  name,
  short,
  play: async (stage) => ({ sent: await postSealed(stage, path, made(bytes), envelope) }),
})

const inference: Envelope = { params: 'encryptedInference', parts: {}, beside: {} }
const search: Envelope = {
  params: 'encryptedParams',
  parts: { encryptedRagDek: { nonce: 'ragDekNonce', bytes: new Uint8Array(32) } },
  beside: {},
}

const faults: readonly Scene[] = [
  posting('a chat with 0.5 MB of empty messages', true, chat, 500_000, emptyMessages),
  posting('a chat with 2 MB of empty messages', true, chat, 2_000_000, emptyMessages),
  posting('a chat with 33 MB of empty messages', true, chat, 33_000_000, emptyMessages),
  posting('an indexing with 1 MB of empty files', true, '/files/encrypted/index', 1_000_000, (bytes) =>
    body('{"files":[', '{},', '{}]}', bytes),
  ),
  sealing(
    'a sealed chat with 8 MB of empty messages',
    true,
    '/rvenc/chat/completions',
    8_000_000,
    emptyMessages,
    inference,
  ),
  sealing(
    'a sealed search in 30 MB of numbers for files',
    true,
    '/tools/searchRag',
    30_000_000,
    (bytes) => body('{"query":"a","fileIds":[', '1,', '1]}', bytes),
    search,
  ),
]

const largeJson: readonly Scene[] = [
  posting('a chat with 33 MB of short keys in an unknown field', true, chat, 33_000_000, (bytes) =>
    Buffer.concat([
      Buffer.from('{"model":"chatting","messages":[{"role":"user","content":"a"}],"more":{'),
      members(Math.floor((bytes - 100) / 11)),
      Buffer.from('}}'),
    ]),
  ),
  posting('a chat with one text of 33 MB', true, chat, 33_000_000, (bytes) =>
    body('{"model":"chatting","messages":[{"role":"user","content":"', 'a', '"}]}', bytes),
  ),
  posting('a decision about 16 MB of numbers', true, decision, 16_000_000, (bytes) =>
    body('{"model":"chatting","questions":{"a":{"type":"noul"}},"state":[', '1,', '1]}', bytes),
  ),
  posting('a decision about 16 MB of short keys', false, decision, 16_000_000, (bytes) =>
    Buffer.concat([
      Buffer.from('{"model":"chatting","questions":{"a":{"type":"noul"}},"state":{'),
      members(Math.floor((bytes - 100) / 11)),
      Buffer.from('}}'),
    ]),
  ),
]

const pipelining = (name: string, line: string, connections: number): Scene => ({
  name,
  short: true,
  memory: 64 * mebibyte,
  async play(stage) {
    await pipelined(stage, line, 63 * 1024, connections, 2_000)
    return { sent: connections * 63 * 1024 }
  },
})

const pipelines: readonly Scene[] = [
  pipelining('63 KiB of GET /docs on one connection', 'GET /docs', 1),
  pipelining('63 KiB of GET /docs on each of twelve connections', 'GET /docs', 12),
  pipelining('63 KiB of unknown paths on each of twelve connections', 'GET /none', 12),
]

/** Ms that a head may take, and ms in which its connection is gone after that. */
const [head, gone] = [15_000, 20_000]

const connections: readonly Scene[] = [
  {
    name: '500 half-open connections',
    short: false,
    memory: 64 * mebibyte,
    async play(stage) {
      const sockets = await Promise.all(Array.from({ length: 500 }, () => connected(stage)))
      for (const socket of sockets) socket.resume().write('GET /docs HTTP/1.1\r\nhost: a\r\n')
      const left = await leftOpen(sockets, head + gone)
      for (const socket of sockets) socket.destroy()
      return { sent: 0, figures: [{ name: 'connections left', value: left, most: 0 }] }
    },
  },
  {
    name: '16 unfinished bodies of 31 MB',
    short: false,
    memory: 256 * mebibyte,
    async play(stage) {
      const sockets = await unfinished(stage, chat, 31_000_000, 16)
      const left = await leftOpen(sockets, 60_000)
      for (const socket of sockets) socket.destroy()
      return { sent: 0, figures: [{ name: 'connections left after a minute', value: left, most: 0 }] }
    },
  },
]

/** What was seen of 1.0.0, each as it was done. */
export const scenes: readonly Scene[] = [...faults, ...pipelines, ...largeJson, ...connections, ...lanes]
