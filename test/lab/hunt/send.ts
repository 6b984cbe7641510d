import { type Agent, request } from 'node:http'

export interface Sent {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** Bytes of each chunk; the body goes with its length when absent. */
  readonly chunk?: number
}

export interface Got {
  /** What the answer said, or why there is none; `severed` was a connection that the answer before it had kept. */
  readonly status: number | 'cut' | 'severed' | 'silent'
  readonly text: string
}

/** Ms in which an answer begins, or it counts as silent. */
const patience = 60_000

/** A socket whose request was answered early may still fail on the rest of its body. */
const late = () => undefined

/** Sends a body whole, whatever the other side says meanwhile. Never rejects. */
export const send = (agent: Agent, url: string, { method, headers, body, chunk }: Sent): Promise<Got> =>
  new Promise((resolve) => {
    const framing = chunk === undefined ? { 'content-length': String(body.length) } : { 'transfer-encoding': 'chunked' }
    const all = { ...headers, ...framing }
    const asking = request(url, { method, agent, headers: all, timeout: patience }, (answer) => {
      const parts: Buffer[] = []
      const told = () => resolve({ status: answer.statusCode!, text: Buffer.concat(parts).toString() })
      // What was refused half-read is answered and cut.
      answer.on('data', (part: Buffer) => void parts.push(part)).once('end', told)
      answer.once('error', told)
    })
    asking.once('socket', (socket) => socket.listeners('error').includes(late) || socket.on('error', late))
    asking.once('timeout', () => {
      resolve({ status: 'silent', text: '' })
      asking.destroy()
    })
    asking.on('error', () => resolve({ status: asking.reusedSocket ? 'severed' : 'cut', text: '' }))
    asking.on('close', () => resolve({ status: 'cut', text: '' }))
    if (chunk === undefined) return void asking.end(body)
    asking.cork()
    for (let at = 0; at < body.length; at += chunk) asking.write(body.subarray(at, at + chunk))
    asking.end()
  })
