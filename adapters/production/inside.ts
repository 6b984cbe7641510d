import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmod, readFile, rm } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { inside } from '../../core/enclave/inside.ts'
import { GatewayError, Unavailable } from '../../core/errors.ts'
import { use } from '../../core/plugin.ts'
import type { Enclave, Grant } from '../../core/ports/enclave.ts'
import { Prover } from '../../core/ports/prover.ts'
import { Upstream } from '../../core/ports/upstream.ts'
import memoryCache from '../memory/cache.ts'
import { clock, log as silence, random } from '../memory/host.ts'
import { type Config, checkedConfig, settingsOf } from './config.ts'
import { chosen } from './discover.ts'
import { harden } from './harden.ts'
import { fetch } from './host.ts'
import { releaseDigest } from './release.ts'
import { askingBack } from './shelf-line.ts'
import { toolsOf } from './tools.ts'

/**
 * The confidential process. It is told its configuration on standard input, or by the file that `SEALGATE_CONFIG` names,
 * listens where that says, and ends when its standard input does, so that it never outlives the one who started it.
 */
export const enclave = async (env: NodeJS.ProcessEnv): Promise<void> => {
  harden(process)
  const left = leaving(process.stdin)
  const file = env['SEALGATE_CONFIG']
  // Meant for the gateway, where a whole group of processes is told to reload.
  if (!file) process.on('SIGHUP', () => undefined)
  const config = checkedConfig(JSON.parse(file ? await readFile(file, 'utf8') : await line(process.stdin)), env)
  const it = await assembled(config)
  const server = await listening(config, (request, response) => void answer(it, request, response))
  process.stdout.write('sealgate enclave listening\n')
  await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT'), ...(file ? [] : [left])])
  server.close()
  server.closeAllConnections()
  await it.dispose?.()
  process.exit(0)
}

/** The first line; standard input stays open behind it. */
const line = async (input: NodeJS.ReadStream): Promise<string> => {
  let said = ''
  input.setEncoding('utf8')
  for (;;) {
    const [part] = (await once(input, 'data')) as [string]
    said += part
    if (said.includes('\n')) break
  }
  input.resume()
  return said.slice(0, said.indexOf('\n'))
}

/** When whoever started this process is gone, its end of the pipe is. */
const leaving = (input: NodeJS.ReadStream): Promise<void> =>
  new Promise((resolve) => {
    for (const event of ['end', 'close', 'error']) input.once(event, () => resolve())
  })

const assembled = async (config: Config): Promise<Enclave> => {
  const { providers, evidence, connect: _, listen: __, tls: ___, ...own } = config.enclave
  const named = Object.entries(providers ?? config.providers)
  const innards = {
    clock: use(clock),
    random: use(random),
    fetch: use(fetch, { outside: config.outside }),
    // Nothing that happens inside is written anywhere.
    log: use(silence),
    cache: use(memoryCache),
    prover: await chosen(Prover, 'evidence', 'enclave.evidence', evidence ?? { use: 'dev' }),
    upstreams: await Promise.all(
      named.map(([name, choice]) => chosen(Upstream, 'providers', `enclave.providers.${name}`, choice, name)),
    ),
    tools: await toolsOf(config),
  }
  return inside(innards, settingsOf(config), own, await releaseDigest(config))
}

/** Ms that an idle line stays open: longer than the gateway keeps it, so that no call meets a closing one. */
const patient = 600_000

const listening = async (
  { enclave: { listen, tls } }: Config,
  listener: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Server> => {
  if (listen === undefined) throw new Error('enclave.listen is not set')
  if (listen.startsWith('/')) {
    await rm(listen, { force: true })
    const server = createServer(listener)
    server.keepAliveTimeout = patient
    await once(server.listen(listen), 'listening')
    await chmod(listen, 0o600)
    return server
  }
  if (tls === undefined)
    throw new Error('enclave.tls is not set: without a unix socket both sides must prove themselves')
  const [ca, cert, key] = await Promise.all([tls.ca, tls.cert, tls.key].map((file) => readFile(file)))
  const server = createTlsServer(
    { ca, cert, key, requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.3' },
    listener,
  )
  server.keepAliveTimeout = patient
  const at = new URL(`tcp://${listen}`)
  await once(server.listen(Number(at.port), at.hostname), 'listening')
  return server as unknown as Server
}

const questions = askingBack(randomUUID)

/** One call of the gateway: what is asked back and the answer as lines of JSON, or the frames of a stream, a line each, then its trailer. */
const answer = async (it: Enclave, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const [gone, stop] = [new AbortController(), new AbortController()]
  const either = AbortSignal.any([gone.signal, stop.signal])
  const left = () => stop.abort(new Error('The caller left'))
  response.once('close', () => gone.abort(new Error('The gateway left')))
  const say = (value: unknown) => response.write(`${JSON.stringify(value)}\n`)
  try {
    const url = new URL(request.url ?? '/', 'unix://enclave')
    const path = url.pathname.slice(1)
    if (path === 'keys') say(await it.keys())
    else if (path === 'attest')
      say(await it.attest(new Uint8Array(Buffer.from(url.searchParams.get('challenge') ?? '', 'hex'))))
    else if (path === 'models') say(await it.models(gone.signal))
    else if (await questions.serve(path, request, response)) return
    else {
      const grant = JSON.parse(decodeURIComponent(String(request.headers['grant']))) as Grant
      const sealed =
        request.headers['large'] === 'yes'
          ? lasting(request)
          : (JSON.parse(await text(request)) as Record<string, unknown>)
      const shelf = questions.shelf((ask) => say({ ask }), gone.signal)
      const reply = await it.handle(path.replace(/^handle\//, ''), sealed, grant, either, shelf)
      if (reply.kind === 'body') say(reply)
      else {
        let end = ''
        questions.word((id) => (end = id), gone.signal).then(left, () => undefined)
        // No backend is asked before the gateway has a place for the stream.
        await questions.word((begin) => say({ kind: 'frames', begin, end }), gone.signal)
        for await (const frame of reply.frames) {
          if (!response.write(`${frame}\n`) && !response.destroyed)
            await once(response, 'drain', { signal: gone.signal })
        }
        say({ trailer: await reply.trailer })
      }
    }
    response.end()
  } catch (error) {
    // Only what the catalogue and the outer checks say; everything else is the same word.
    const known = error instanceof GatewayError ? error : new Unavailable()
    if (!request.complete) request.resume()
    if (response.headersSent) return void response.destroy()
    response.writeHead(known.status, { 'content-type': 'application/json' })
    response.end(`${JSON.stringify({ name: known.name, message: known.message, validator: known.validator })}\n`)
  }
}

/** Leaving off early keeps the connection: the refusal still has to go out on it. */
const lasting = (request: IncomingMessage): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]: () => request.iterator({ destroyOnReturn: false }),
})
