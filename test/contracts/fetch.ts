import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { openUpstream } from '../../adapters/production/network/fetch-upstream.ts'
import { UpstreamFailed } from '../../core/errors.ts'
import type { Answer, Ask, Fetch } from '../../core/ports/platform.ts'
import { wrong } from '../fakes/careless-doors.ts'
import { proof } from './contract.ts'

interface Served {
  readonly url: string
  readonly sockets: readonly Socket[]
}

/** A server of our own for the length of one check. */
const serving = async (listener: RequestListener, check: (served: Served) => Promise<void>): Promise<void> => {
  const sockets: Socket[] = []
  const server = createServer(listener).on('connection', (socket) => sockets.push(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await check({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets })
  } finally {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
}

const get = (more: Partial<Ask> = {}): Ask => ({ method: 'GET', signal: new AbortController().signal, ...more })

const soon = async <T>(work: Promise<T>, what: string): Promise<T> => {
  const stop = new AbortController()
  const late = wait(1000, null, { signal: stop.signal }).then(() => assert.fail(`not within a second: ${what}`))
  return Promise.race([work, late]).finally(() => stop.abort())
}

const closes = async ([socket]: readonly Socket[]): Promise<void> => {
  assert.ok(socket, 'there was a socket')
  if (!socket.closed) await soon(once(socket, 'close'), 'the socket closes')
}

const failed = (fault: unknown): boolean => fault instanceof UpstreamFailed && fault.again
const is = (reason: unknown) => (fault: unknown) => fault === reason

/** The first part, and what is left to read. */
const begin = async ({ body }: Answer) => {
  const rest = body[Symbol.asyncIterator]()
  const first = await soon(rest.next(), 'the first part')
  return { first: Buffer.from(first.value ?? []).toString(), rest }
}

const binary = Buffer.from(Uint8Array.from({ length: 1024 * 1024 }, (_, i) => (i * 7) ^ (i >> 8)))

/** A body that begins and does not go on. */
const hanging: RequestListener = (_, response) => void response.write('first')
const silent: RequestListener = () => {}

export const fetch = proof({
  contract: {
    'gives status and headers': async (fresh: () => Promise<Fetch>) => {
      const { upstream } = await fresh()
      const tell: RequestListener = (_, response) => response.writeHead(201, { 'X-Request-Id': 'a1' }).end()
      await serving(tell, async ({ url }) => {
        const answer = await upstream(url, get())
        assert.equal(answer.status, 201)
        assert.equal(answer.header('x-request-id'), 'a1')
        assert.equal(answer.header('x-other'), null)
        answer.discard()
      })
    },
    'carries method, path, headers and body': async (fresh) => {
      const { upstream } = await fresh()
      const echo: RequestListener = async (request, response) => {
        const { method, url, headers } = request
        response.end(JSON.stringify([method, url, headers['x-tag'], (await buffer(request)).toString('hex')]))
      }
      await serving(echo, async ({ url }) => {
        for (const body of ['grüße', Buffer.from([0, 255, 128]), new Uint8Array([9, 1, 2, 9]).subarray(1, 3)]) {
          const answer = await upstream(`${url}/a/b?c=d%20e`, get({ method: 'POST', headers: { 'x-tag': 't' }, body }))
          const sent = Buffer.from(body as string).toString('hex')
          assert.deepEqual(JSON.parse(await text(answer.body)), ['POST', '/a/b?c=d%20e', 't', sent])
        }
      })
    },
    'gives the body byte for byte': async (fresh) => {
      const { upstream } = await fresh()
      await serving(
        (_, response) => response.end(binary),
        async ({ url }) => assert.ok(binary.equals(await buffer((await upstream(url, get())).body)), 'the same bytes'),
      )
    },
    'gives each part of the body as it comes': async (fresh) => {
      const { upstream } = await fresh()
      let goOn = () => {}
      const slow: RequestListener = (_, response) => {
        response.write('first')
        goOn = () => response.end('second')
      }
      await serving(slow, async ({ url }) => {
        const { first, rest } = await begin(await soon(upstream(url, get()), 'the head'))
        assert.equal(first, 'first')
        goOn()
        assert.equal(await text({ [Symbol.asyncIterator]: () => rest }), 'second')
      })
    },
    'any status is an answer': async (fresh) => {
      const { upstream } = await fresh()
      const tell: RequestListener = ({ url }, response) => response.writeHead(Number(url?.slice(1))).end('why')
      await serving(tell, async ({ url }) => {
        for (const status of [400, 404, 429, 500, 503]) {
          const answer = await upstream(`${url}/${status}`, get())
          assert.equal(answer.status, status)
          assert.equal(await text(answer.body), 'why')
        }
      })
    },
    'follows no redirect': async (fresh) => {
      const { upstream } = await fresh()
      const tell: RequestListener = ({ url }, response) =>
        url === '/' ? response.writeHead(302, { location: '/other' }).end() : response.end()
      await serving(tell, async ({ url }) => {
        const answer = await upstream(`${url}/`, get())
        answer.discard()
        assert.equal(answer.status, 302)
        assert.equal(answer.header('location'), '/other')
      })
    },
    'a refused connection may be tried again': async (fresh) => {
      const { upstream } = await fresh()
      let gone = ''
      await serving(silent, async ({ url }) => void (gone = url))
      await assert.rejects(upstream(gone, get()), failed)
    },
    'a connection cut before the answer may be tried again': async (fresh) => {
      const { upstream } = await fresh()
      await serving(
        ({ socket }) => socket.destroy(),
        async ({ url }) => assert.rejects(upstream(url, get()), failed),
      )
    },
    'a body that is cut does not end as if it were whole': async (fresh) => {
      const { upstream } = await fresh()
      const cut: RequestListener = ({ url, socket }, response) => {
        if (url === '/length') response.writeHead(200, { 'content-length': 100 })
        response.write('first', () => socket.end())
      }
      await serving(cut, async ({ url }) => {
        for (const path of ['/length', '/chunked']) {
          await assert.rejects(
            text((await upstream(url + path, get())).body),
            (error) => error instanceof UpstreamFailed,
          )
        }
      })
    },
    'asks nobody when the signal has fired': async (fresh) => {
      const { upstream } = await fresh()
      const reason = new Error('left')
      await serving(silent, async ({ url, sockets }) => {
        await assert.rejects(soon(upstream(url, get({ signal: AbortSignal.abort(reason) })), 'the end'), is(reason))
        await wait(20)
        assert.equal(sockets.length, 0)
      })
    },
    'waiting for the answer ends with the reason of the signal': async (fresh) => {
      const { upstream } = await fresh()
      const stop = new AbortController()
      const reason = new Error('left')
      const arrived = (_: IncomingMessage) => stop.abort(reason)
      await serving(arrived, async ({ url, sockets }) => {
        await assert.rejects(soon(upstream(url, get({ signal: stop.signal })), 'the end'), is(reason))
        await closes(sockets)
      })
    },
    'reading the body ends with the reason of the signal': async (fresh) => {
      const { upstream } = await fresh()
      const stop = new AbortController()
      const reason = new Error('left')
      await serving(hanging, async ({ url, sockets }) => {
        const { rest } = await begin(await upstream(url, get({ signal: stop.signal })))
        const next = assert.rejects(soon(rest.next(), 'the end'), is(reason))
        stop.abort(reason)
        await next
        await closes(sockets)
      })
    },
    'leaving the body early closes the socket': async (fresh) => {
      const { upstream } = await fresh()
      await serving(hanging, async ({ url, sockets }) => {
        for await (const _ of (await upstream(url, get())).body) break
        await closes(sockets)
      })
    },
    'discarding closes the socket': async (fresh) => {
      const { upstream } = await fresh()
      await serving(hanging, async ({ url, sockets }) => {
        const answer = await upstream(url, get())
        answer.discard()
        await closes(sockets)
        await assert.rejects(soon(text(answer.body), 'the end'), (error) => error instanceof UpstreamFailed)
      })
    },
    'waits for the answer no longer than its patience': async (fresh) => {
      const { upstream } = await fresh()
      await serving(silent, async ({ url, sockets }) => {
        const from = performance.now()
        await assert.rejects(soon(upstream(url, get({ patience: 60 })), 'the end'), failed)
        assert.ok(performance.now() - from >= 58, 'nor much shorter')
        await closes(sockets)
      })
    },
    'patience is for the head alone': async (fresh) => {
      const { upstream } = await fresh()
      const slow: RequestListener = async (_, response) => {
        response.write('first')
        await wait(800)
        response.end('second')
      }
      await serving(slow, async ({ url }) => {
        assert.equal(await text((await upstream(url, get({ patience: 600 }))).body), 'firstsecond')
      })
    },
    'a reader that waits holds the sender back': async (fresh) => {
      const { upstream } = await fresh()
      const all = 32 * 1024 * 1024
      let sent = 0
      const pour = async function* () {
        for (; sent < all; sent += 256 * 1024) yield Buffer.alloc(256 * 1024)
      }
      const flood: RequestListener = (_, response) => void Readable.from(pour()).pipe(response)
      await serving(flood, async ({ url }) => {
        const answer = await upstream(url, get())
        const { rest } = await begin(answer)
        // A sender that is not held back goes on for as long as the machine takes.
        for (let before = -1; sent !== before && sent < all / 2; await wait(300)) before = sent
        assert.ok(sent < all / 2, 'the sender waits')
        let read = 0
        for await (const part of { [Symbol.asyncIterator]: () => rest }) read += part.length
        assert.ok(read > all / 2, 'and goes on')
      })
    },
  },
  right: (): Fetch => {
    const { door, close } = openUpstream()
    return { upstream: door, outside: door, dispose: close }
  },
  wrong,
})
