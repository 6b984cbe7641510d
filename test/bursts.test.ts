import './fakes/unwatched.ts'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { checkedConfig } from '../adapters/production/config/config.ts'
import { production } from '../adapters/production/index.ts'
import { running, unhurried } from './environments.ts'
import type { Burst } from './fakes/bursting.ts'
import { vendorsAt } from './fakes/vendor-answers.ts'
import { folderOf } from './helpers.ts'

const event = (content: string, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason }] })}\n\n`

const part = Array.from({ length: 1_000 }, (_, at) => event(`w${at} `)).join('')
const end = `${event('a', 'stop')}data: [DONE]\n\n`

const bursting = async (t: Test, straight: boolean) => {
  const burst: Burst = { part, end, sent: new Int32Array(new SharedArrayBuffer(4)) }
  const worker = new Worker(new URL('./fakes/bursting.js', import.meta.url), { workerData: burst })
  t.teardown(() => worker.terminate())
  const [port] = (await once(worker, 'message')) as [number]
  const made = await production(checkedConfig({ log: { level: 'silent' } }, {}), await folderOf(t))
  const models = { bursting: { upstreams: [{ provider: 'openai', model: 'chat' }] } }
  const settings = { ...unhurried, models, routing: { straight, retries: 0 } }
  const gateway = await running(t, { ...made, upstreams: vendorsAt(`http://127.0.0.1:${port}`) }, settings)
  return { ...gateway, burst }
}

/** A chat whose answer has the part so often. */
const chat = (times: number) => ({
  ...{ model: 'bursting', stream: true },
  messages: [{ role: 'user', content: String(times) }],
})

for (const straight of [true, false])
  t.test(`no more is read than a caller takes, ${straight ? 'straight' : 'by the long way'}`, async (t) => {
    const { base, key, call, burst } = await bursting(t, straight)
    const path = '/v1/chat/completions'
    // The first chat of a route goes the long way.
    for (let times = 0; times < 2; times++) await (await call('POST', path, chat(1))).text()
    burst.sent[0] = 0
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const idle = request(base + path, { method: 'POST', headers })
    t.teardown(() => idle.on('error', () => undefined).destroy())
    idle.end(JSON.stringify(chat(400)))
    const [answer] = (await once(idle, 'response')) as [IncomingMessage]
    t.equal(answer.statusCode, 200)
    for (let before = -1; before < burst.sent[0];) {
      before = burst.sent[0]
      await sleep(500)
    }
    const all = 400 * part.length
    t.ok(burst.sent[0] < all / 2, `${burst.sent[0]} of ${all} bytes`)
  })
