import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'

export interface Head {
  readonly status: number
  readonly headers: IncomingHttpHeaders
}

/** A request that is under way. */
export interface Sent {
  readonly head: Promise<Head>
  /** The whole body; rejects when it breaks off. */
  readonly whole: Promise<string>
  /** Resolves when the body holds this text, or is over. */
  heard(text: string): Promise<void>
  /** Hangs up. */
  leave(): void
}

export interface Asking {
  readonly method?: string
  readonly path: string
  readonly key: string
  readonly body?: object
}

export type Send = (base: string, asking: Asking) => Sent

/** Requests over kept connections. */
export const sending = (): { readonly send: Send; readonly close: () => void } => {
  const agent = new Agent({ keepAlive: true })
  return { send: (base, asking) => sent(agent, base, asking), close: () => agent.destroy() }
}

const sent = (agent: Agent, base: string, { method = 'POST', path, key, body }: Asking): Sent => {
  const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) }
  const asked = request(base + path, { agent, method, headers })
  let text = ''
  let over = false
  let look = () => {}
  const answer = new Promise<IncomingMessage>((resolve, reject) => asked.once('response', resolve).on('error', reject))
  const whole = answer.then(
    (request) =>
      new Promise<string>((resolve, reject) => {
        request.setEncoding('utf8').on('data', (part: string) => {
          text += part
          look()
        })
        request.once('end', () => resolve(text)).once('error', reject)
      }),
  )
  const ended = () => {
    over = true
    look()
  }
  whole.then(ended, ended)
  asked.end(body && JSON.stringify(body))
  const head = answer.then(({ statusCode, headers }) => ({ status: statusCode!, headers }))
  head.catch(() => undefined)
  return {
    head,
    whole,
    heard: (sought) =>
      new Promise((resolve) => {
        look = () => (over || text.includes(sought)) && resolve()
        look()
      }),
    leave: () => void asked.destroy(),
  }
}
