import { members, repeatedIn } from '../lab/hunt/bodies.ts'
import { keyAt, sealedFor } from '../lab/hunt/sealing.ts'
import { inTinyChunks, type Door, post } from './attacks.ts'
import { clientOf } from './lanes.ts'

export const unknownKeys = members(95_000).toString()
export const conversation = '"model":"chatting","max_tokens":5,"messages":[{"role":"user","content":"a"}]'

const chat = '/std/chat/completions'
const hello = Buffer.from(`{${conversation}}`)
const keyed = Buffer.from(`{${conversation},"more":{${unknownKeys}}}`)

const posting = (body: Buffer, path = chat) => ({ bytes: body.length, send: (door: Door) => post(door, path, body) })

/** What an attacker sends once, by its name; `send` resolves when it is answered or cut. */
export const attacks = {
  'a chat with unknown keys': posting(keyed),
  'a chat with objects of 4,000 keys': posting(
    Buffer.from(
      `{${conversation},"more":[${Array(24)
        .fill(`{${members(4_000)}}`)
        .join()}]}`,
    ),
  ),
  'a chat with one text of 8 MB': posting(
    repeatedIn('{"model":"chatting","messages":[{"role":"user","content":"', 'a', '"}]}', 8_000_000),
  ),
  'a chat with empty messages': posting(repeatedIn('{"model":"chatting","messages":[', '{},', '{}]}', 2_000_000)),
  'a chat with 24,000 messages': posting(
    repeatedIn(
      '{"model":"chatting","messages":[',
      '{"role":"user","content":"a"},',
      '{"role":"user","content":"a"}]}',
      720_000,
    ),
  ),
  'a chat in chunks of one byte': { bytes: 60 * 1024, send: (door: Door) => inTinyChunks(door, chat, 500_000) },
  'embeddings of 90,000 tokens': posting(
    repeatedIn('{"model":"embedding","input":[', '1,', '1]}', 180_000),
    '/v1/embeddings',
  ),
  'a drawing with 4,000 keys': posting(
    Buffer.from(`{"model":"drawing","prompt":"a","provider":{${members(4_000)}}}`),
    '/std/images/generations',
  ),
  'a sealed chat with unknown keys': {
    bytes: 2 * keyed.length,
    async send(door: Door) {
      const envelope = { params: 'encryptedInference', parts: {}, beside: {} }
      const { body } = sealedFor(await keyAt(door.base, door.key), keyed, envelope)
      return post(door, '/rvenc/chat/completions', body)
    },
  },
} satisfies Readonly<Record<string, { readonly bytes: number; send(door: Door): Promise<unknown> }>>

export type AttackName = keyof typeof attacks

/** What a victim does once, by its name. */
export const visits = {
  chat: (door: Door) => async () => {
    const { status } = await post(door, chat, hello)
    if (status !== 200) throw new Error(`A victim gets ${status}`)
  },
  'sealed call': (door: Door) => {
    const client = clientOf(door.base, door.key)
    return () => client.tools.call('getTime', { timezone: 'UTC' })
  },
} satisfies Readonly<Record<string, (door: Door) => () => Promise<unknown>>>

export type VisitName = keyof typeof visits
