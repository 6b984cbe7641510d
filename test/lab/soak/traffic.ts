import { readdir } from 'node:fs/promises'
import { request, type Agent } from 'node:http'
import type { Client } from '../../../plugins/sealed/client/client.ts'
import { SealgateError } from '../../../plugins/sealed/client/error.ts'
import type { SettingsInput } from '../../../core/settings.ts'

/** Whom one call is made for: nobody else uses these at that time, and what they have stored is only what calls that were left have left. */
export interface Target {
  readonly base: string
  readonly key: string
  readonly agent: Agent
  readonly fetch: typeof globalThis.fetch
  /** Ends its requests when the call is left. */
  readonly client: Client
}

/** One family of calls. Each file in `traffic/` exports one as `traffic`; nothing else names it. */
export interface Traffic {
  readonly name: string
  /** How often it comes, measured against the others. */
  readonly weight: number
  /** Ms that a call takes about, before that is known. */
  readonly ms: number
  /** Whoever leaves may leave files behind. */
  readonly stores?: boolean
  /** What the server must serve for it; the backend behind `soak` is that of backend.ts. */
  readonly models?: SettingsInput['models']
  /** One call, read whole. Gives back what was not as it should be; rejects when `leave` fires, and then its socket is closed. */
  call(target: Target, leave: AbortSignal): Promise<string | null>
}

/** All families, or those that are named. */
export const families = async (names: readonly string[]): Promise<readonly Traffic[]> => {
  const folder = new URL('./traffic/', import.meta.url)
  const files = (await readdir(folder)).filter((file) => /^[^.]+\.[jt]s$/.test(file)).sort()
  const all = await Promise.all(
    files.map(async (file) => ((await import(new URL(file, folder).href)) as { readonly traffic: Traffic }).traffic),
  )
  const unknown = names.find((name) => !all.some((traffic) => traffic.name === name))
  if (unknown !== undefined) throw new Error(`There is no traffic named ${unknown}`)
  return names.length === 0 ? all : all.filter(({ name }) => names.includes(name))
}

/** By chance one of these. */
export const one = <T>(of: readonly T[]): T => of[Math.floor(Math.random() * of.length)]!

export interface Sent {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  readonly body?: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

export interface Got {
  readonly status: number
  readonly text: string
}

export const ask = ({ base, key, agent }: Target, path: string, sent: Sent, leave: AbortSignal): Promise<Got> =>
  new Promise((resolve, reject) => {
    if (leave.aborted) return reject(leave.reason)
    const { method = 'POST', body, headers } = sent
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const own = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...length, ...headers }
    const asking = request(base + path, { method, agent, headers: own })
    const gone = () => asking.destroy(leave.reason as Error)
    leave.addEventListener('abort', gone, { once: true })
    const fail = (error: Error) => {
      leave.removeEventListener('abort', gone)
      reject(error)
    }
    asking.on('error', fail).on('response', (answer) => {
      const parts: Buffer[] = []
      answer
        .on('data', (part: Buffer) => void parts.push(part))
        .on('error', fail)
        .on('end', () => {
          leave.removeEventListener('abort', gone)
          resolve({ status: answer.statusCode!, text: Buffer.concat(parts).toString() })
        })
    })
    asking.end(body)
  })

/** Null when the answer is as it should be. */
export const judged = ({ status, text }: Got, wanted: number, right: (text: string) => boolean): string | null => {
  if (status !== wanted) return `status ${status} instead of ${wanted}`
  return right(text) ? null : `status ${status} with another body`
}

/** Null when it was refused as it should be. */
export const refused = async (
  work: Promise<unknown>,
  wanted: Readonly<Record<string, unknown>>,
  leave: AbortSignal,
): Promise<string | null> => {
  try {
    await work
  } catch (error) {
    leave.throwIfAborted()
    const facts = error instanceof SealgateError ? (error as unknown as Readonly<Record<string, unknown>>) : {}
    if (Object.entries(wanted).every(([name, value]) => facts[name] === value)) return null
    throw error
  }
  return 'answered what it should have refused'
}
