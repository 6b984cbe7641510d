import { sseEvents } from '../../shared/sse.ts'
import { UpstreamFailed } from '../../../core/errors.ts'
import type { BoundKey } from '../../../core/ports/backend-evidence.ts'
import type { Answer, Door } from '../../../core/ports/platform.ts'
import { boundedBody } from '../../shared/bounded-body.ts'
import { textOf, utf8 } from '../../sealed/wire/bytes.ts'
import { fromHex } from '../../sealed/wire/hex.ts'
import { openedChat, sealedChat } from './chat-fields.ts'
import { type Change, textOpener, textSealer } from './field-cipher.ts'
import { statusAlone } from './status-alone.ts'

/** In bytes: the longest answer in one piece. */
const mostAnswer = 64 * 1024 * 1024

const broken = (cause: unknown): UpstreamFailed =>
  cause instanceof UpstreamFailed ? cause : new UpstreamFailed(undefined, { cause })

const opened = (json: string, open: Change): string => {
  const value = JSON.parse(json) as unknown
  return JSON.stringify(openedChat(value, open))
}

async function* whole(answer: Answer, open: Change): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield utf8(opened(textOf(await boundedBody(answer, mostAnswer)), open))
  } catch (cause) {
    throw broken(cause)
  }
}

async function* events({ body }: Answer, open: Change): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const { data } of sseEvents(body))
      yield utf8(`data: ${data.trim() === '[DONE]' ? data : opened(data, open)}\n\n`)
  } catch (cause) {
    throw broken(cause)
  }
}

/**
 * Chats whose texts are sealed one by one, as proxies of dstack and NEAR take them. Everything else with a body is refused
 * before it goes out. Throws without a key of Ed25519.
 */
export const sealedFields = (door: Door, keys: readonly BoundKey[]): Door => {
  const key = keys.find(({ use }) => use === 'ed25519')?.key
  const bytes = key === undefined ? null : fromHex(key, 32)
  if (key === undefined || bytes?.length !== 32) throw new Error('The evidence binds no key to seal to')
  const seal = textSealer(bytes)
  return async (url, ask) => {
    if (ask.body === undefined) return door(url, ask)
    if (!new URL(url).pathname.endsWith('/chat/completions'))
      throw new UpstreamFailed(undefined, { cause: new Error('The service takes sealed chats alone') })
    const text = typeof ask.body === 'string' ? ask.body : textOf(ask.body)
    const body = JSON.stringify(sealedChat(JSON.parse(text) as unknown, seal))
    const { key: own, open } = textOpener()
    const headers = {
      ...ask.headers,
      ...{ 'x-signing-algo': 'ed25519', 'x-client-pub-key': own, 'x-model-pub-key': key },
      ...{ 'x-encryption-version': '2', 'x-encrypt-all-fields': 'true' },
    }
    const answer = await door(url, { ...ask, headers, body })
    if (answer.status !== 200) return statusAlone(answer)
    const isStream = answer.header('content-type')?.startsWith('text/event-stream') === true
    return {
      ...answer,
      header: (name) => (name === 'content-length' ? null : answer.header(name)),
      body: isStream ? events(answer, open) : whole(answer, open),
    }
  }
}
