import { createHash, randomBytes, randomInt } from 'node:crypto'
import { type Agent, fetch } from 'undici'
import { connect } from '../../plugins/sealed/client/client.ts'
import { SealgateError } from '../../plugins/sealed/client/error.ts'
import { uploadOf } from '../fakes/uploads.ts'

export const families = [
  'live',
  'ready',
  'models',
  'chat',
  'stream',
  'decision',
  'sealed',
  'upload',
  'content',
  'list',
] as const
export type Family = (typeof families)[number]

/** One request and its whole answer. */
export type Call = () => Promise<{ readonly code: number; readonly flaw: string | null }>

/** What was acknowledged: files by their id, with the digest of their bytes. */
export type Acknowledged = Map<string, string>

export const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Longer than anything is declared to take. */
const longest = 30_000
const messages = [{ role: 'user', content: 'Hello?' }]
const decision = { model: 'small', state: { mail: 'It broke.' }, questions: { urgent: { type: 'noul' } } }

/** Every family of routes, as a client of its own asks. */
export const callsTo = (
  base: string,
  key: string,
  files: Acknowledged,
  dispatcher: Agent,
): Readonly<Record<Family, Call>> => {
  const ask = (path: string, body?: unknown, known = true) =>
    fetch(base + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...(known && { authorization: `Bearer ${key}` }), 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(longest),
      dispatcher,
    })
  /** `flawOf` looks at what came with a 200. */
  const judged = async (asked: ReturnType<typeof ask>, flawOf: (bytes: Buffer) => string | null = () => null) => {
    const answer = await asked
    const bytes = Buffer.from(await answer.arrayBuffer())
    const { status } = answer
    if (status === 200) return { code: status, flaw: flawOf(bytes) }
    return { code: status, flaw: status === 503 && !answer.headers.has('retry-after') ? 'no retry-after' : null }
  }
  const said = (text: string) => (bytes: Buffer) => (bytes.includes(text) ? null : 'not the answer')
  const through = ((url, init) => fetch(url as string, { ...(init as object), dispatcher })) as typeof globalThis.fetch
  const client = connect({ baseUrl: base, apiKey: key, policy: { allowInsecureDev: true }, fetch: through })

  const upload: Call = async () => {
    const content = randomBytes(randomInt(100, 20_000))
    return judged(ask('/files/encrypted/upload', uploadOf(content)), (bytes) => {
      files.set(JSON.parse(bytes.toString()).data.id, digestOf(content))
      return null
    })
  }

  return {
    live: () => judged(ask('/health/live', undefined, false)),
    ready: () => judged(ask('/health/ready', undefined, false)),
    models: () => judged(ask('/std/models'), said('small')),
    chat: () => judged(ask('/std/chat/completions', { model: 'small', messages }), said('Well, hello.')),
    async stream() {
      let code = 200
      const { code: status, flaw } = await judged(
        ask('/std/chat/completions', { model: 'small', messages, stream: true }),
        (bytes) => {
          if (bytes.toString().endsWith('data: [DONE]\n\n')) return null
          code = Number(/"code":(\d+)/.exec(bytes.toString())?.[1] ?? 0)
          return code === 0 ? 'cut off' : null
        },
      )
      return { code: status === 200 ? code : status, flaw }
    },
    decision: () => judged(ask('/compat/v1/decision', decision), said('"noul"')),
    async sealed() {
      try {
        const { choices } = await client.chat.completions.create({ model: 'secret', messages })
        return { code: 200, flaw: choices[0]?.message.content === 'Well, hello.' ? null : 'not the answer' }
      } catch (fault) {
        if (!(fault instanceof SealgateError)) throw fault
        const { status, retryAfter } = fault
        const flaw = status === null ? fault.fault : status === 503 && retryAfter === null ? 'no retry-after' : null
        return { code: status ?? 0, flaw }
      }
    },
    upload,
    async content() {
      const all = [...files]
      const [id, digest] = all[randomInt(Math.max(1, all.length))] ?? []
      if (id === undefined) return upload()
      return judged(ask(`/files/encrypted/${id}/content`), (bytes) =>
        digestOf(bytes) === digest ? null : 'other bytes',
      )
    },
    list: () => judged(ask('/files/encrypted?limit=5'), said('"pagination"')),
  }
}
