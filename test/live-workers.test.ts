import './fakes/unwatched.ts'
import { writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { listening } from './fakes/live-listener.ts'
import { startRedis } from './fakes/redis.ts'
import { program, served } from './fakes/served.ts'
import { talking } from './fakes/talking.ts'
import { until } from './until.ts'

interface State {
  readonly processes: number
  readonly backends: readonly {
    readonly state: string
    readonly calls: readonly object[]
    readonly used: { readonly requests: number }
  }[]
}

const redis = await startRedis({ steer: true })
t.teardown(() => redis?.close())

t.test(
  'an operator on one worker sees and steers both',
  { skip: redis === null && 'no redis-server here' },
  async (t) => {
    const main = await talking(t, 'a')
    const file = join(t.testdir(), 'config.json')
    await writeFile(
      file,
      JSON.stringify({
        providers: { main: { use: 'openai', baseUrl: main.baseUrl, apiKey: 'x' } },
        models: { small: { upstreams: [{ provider: 'main' }] } },
        enclave: { providers: { rehearsal: { use: 'rehearsal' } } },
        log: { level: 'info' },
        limits: { redis: redis!.url, patience: 2000, key: { requestsPerSecond: null } },
      }),
    )
    const env = { SEALGATE_DATA: join(t.testdirName, 'data'), SEALGATE_CONFIG: file, SEALGATE_LOG: 'info' }
    const server = await served(env, program, ['serve', '--workers', '2'])
    t.teardown(() => server.child.kill('SIGKILL'))
    const authorization = `Bearer ${server.key}`

    /** On a connection of its own, so that the next one is taken by the other worker. */
    const call = (method: string, path: string, body?: object) =>
      new Promise<{ status: number; data: unknown }>((resolve, reject) => {
        const headers = { authorization, 'content-type': 'application/json' }
        const asking = request(
          server.base + path,
          { method, headers, agent: new Agent({ keepAlive: false }) },
          (answer) => {
            let text = ''
            answer.setEncoding('utf8')
            answer.on('data', (part: string) => (text += part)).on('error', reject)
            answer.on('end', () =>
              resolve({ status: answer.statusCode ?? 0, data: (JSON.parse(text) as { data?: unknown }).data }),
            )
          },
        )
        asking.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
      })
    const chats = (count: number) => {
      const messages = [{ role: 'user', content: 'Hi' }]
      return Promise.all(
        Array.from(
          { length: count },
          async () => (await call('POST', '/std/chat/completions', { model: 'small', messages })).status,
        ),
      )
    }
    const states = async () => (await call('GET', '/admin/backends')).data as State

    const heard = await listening(t, `${server.base}/admin/live?organization=*`, { authorization })
    t.match(heard.first, { of: 'all', processes: 2 })
    t.same(new Set(await chats(8)), new Set([200]))
    await heard.until(
      () => [...heard.requests.values()].filter(({ ms, tokens }) => ms !== null && tokens !== null).length === 8,
    )
    const pids = () => new Set([...server.said.matchAll(/"pid":(\d+),.*"event":"request"/g)].map(([, pid]) => pid))
    t.ok(await until(() => pids().size === 2), 'both have served')

    const { processes, backends } = await states()
    t.equal(processes, 2)
    t.match(backends, [{ state: 'closed', used: { requests: 8 } }])
    t.equal(backends[0]!.calls.length, 8)
    t.match(await call('POST', '/admin/backends/main/rest', { seconds: 300 }), { status: 200, data: { processes: 2 } })
    t.same(new Set(await chats(6)), new Set([503]), 'it rests in both')
    t.match((await states()).backends, [{ state: 'open' }])
    t.match(await call('POST', '/admin/backends/main/wake'), { status: 200, data: { processes: 2 } })
    t.same(new Set(await chats(6)), new Set([200]))
  },
)
