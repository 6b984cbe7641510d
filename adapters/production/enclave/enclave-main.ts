import { type RequestListener, type Server, createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect } from 'node:net'
import { once } from 'node:events'
import { chmod, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildEnclave } from '../../../plugins/sealed/enclave/assemble.ts'
import { use } from '../../../core/plugin.ts'
import type { Enclave } from '../../../core/ports/enclave.ts'
import { Prover } from '../../../core/ports/attester.ts'
import type { TestRoots } from '../../../plugins/sealed/evidence/policy.ts'
import memoryCache from '../../memory/cache.ts'
import { clock, log as silence, random } from '../../memory/platform.ts'
import { splitEnclaveSettings } from '../config/enclave-parts.ts'
import { FaultyConfiguration } from '../config/faults.ts'
import { devFaults } from '../config/sense-faults.ts'
import { type Config, checkedConfig, settingsOf } from '../config/config.ts'
import { chosenPlugin } from '../config/load-plugin.ts'
import { chosenUpstream } from '../config/upstreams.ts'
import { certificatesIn } from './certificates.ts'
import { type ShutdownState, enclaveServer } from './enclave-server.ts'
import { type EnclaveStart, parsed } from './harden.ts'
import { fetch } from '../platform.ts'
import { releaseDigest } from '../config/release-digest.ts'
import { ignoreSignals, onStopSignal } from '../workers/signals.ts'
import { guardsOf, readersOf, toolsOf } from '../config/named-plugins.ts'

/**
 * The enclave process. Its configuration comes on standard input, or from the file in `SEALGATE_CONFIG`. A process with
 * standard input ends when its parent closes it or dies; a process with a file ends on signals. Only code can set test
 * roots of backends.
 */
export const enclave = async (env: NodeJS.ProcessEnv, start: EnclaveStart, testRoots?: TestRoots): Promise<void> => {
  const alone = env['SEALGATE_CONFIG']
  const left = alone ? onStopSignal() : closed(process.stdin)
  const config = checkedConfig(alone ? start.written : parsed(await line(process.stdin)), env)
  const enclave = await assembled(config, start, testRoots)
  const leave: ShutdownState = { hidden: false, closed: false, active: 0 }
  const server = await listening(config, enclaveServer(enclave, leave))
  process.stdout.write('sealgate enclave listening\n')
  const lingers = await left
  leave.hidden = true
  if (lingers) await sleep(Math.max(noticed, config.server.linger))
  leave.closed = true
  for (const until = Date.now() + config.server.drain; leave.active > 0 && Date.now() < until;) await sleep(20)
  server.close()
  server.closeAllConnections()
  await enclave.dispose?.()
  process.exit(0)
}

/** In ms: after this time every gateway has checked a silent enclave. */
const noticed = 6_000

/** The parent closes the pipe to end this process, and the system closes it when the parent dies. */
const closed = (input: NodeJS.ReadStream): Promise<boolean> => {
  ignoreSignals(process)
  return new Promise((resolve) => {
    for (const event of ['end', 'close', 'error']) input.once(event, () => resolve(false))
  })
}

/** The first line. Standard input stays open after it. */
const line = (input: NodeJS.ReadStream): Promise<string> =>
  new Promise((resolve, reject) => {
    const refuse = () => reject(new Error('SEALGATE_CONFIG is not set'))
    if (input.isTTY) return refuse()
    let output = ''
    const hear = (part: string) => {
      output += part
      const end = output.indexOf('\n')
      if (end < 0) return
      input.off('data', hear).resume()
      resolve(output.slice(0, end))
    }
    input.setEncoding('utf8').on('data', hear)
    for (const event of ['end', 'close', 'error']) input.once(event, refuse)
  })

/** The same parts as in the gateway, with what the configuration names for inside and without any log. */
const assembled = async (config: Config, start: EnclaveStart, testRoots?: TestRoots): Promise<Enclave> => {
  const faults = devFaults(config)
  if (faults.length > 0) throw new FaultyConfiguration(faults)
  const {
    providers,
    evidence,
    guards,
    connect: _,
    listen: __,
    tls: ___,
    allowDev: ____,
    ...own
  } = splitEnclaveSettings(config.enclave).inside
  const named = Object.entries(providers ?? config.providers)
  const enclaveParts = {
    clock: use(clock),
    random: use(random),
    fetch: use(fetch, { outside: config.outside }),
    // The log is off, so that nothing inside the enclave is recorded.
    log: use(silence),
    cache: use(memoryCache),
    prover: await chosenPlugin(Prover, 'evidence', ['enclave', 'evidence'], evidence ?? { use: 'dev' }),
    upstreams: await Promise.all(
      named.map(([name, choice]) => chosenUpstream(['enclave', 'providers', name], name, choice, testRoots)),
    ),
    tools: await toolsOf(config),
    readers: await readersOf(config),
    guards: await guardsOf(guards, ['enclave', 'guards']),
  }
  return buildEnclave(enclaveParts, settingsOf(config), own, await releaseDigest(config, start))
}

/** In ms: the lifetime of an idle connection. The gateway closes it earlier, so no call meets a closing connection. */
const patient = 600_000

/** A socket's path lets in this user alone (mode 600); a port lets in holders of a certificate alone. */
const listening = async ({ enclave: { listen, tls } }: Config, listener: RequestListener): Promise<Server> => {
  if (listen === undefined) throw new Error('enclave.listen is not set')
  if (listen.startsWith('/')) {
    if (await answers(listen)) throw new Error('enclave.listen is taken by another process')
    await rm(listen, { force: true })
    const server = keepOpen(createServer(granted, listener))
    await once(server.listen(listen), 'listening')
    await chmod(listen, 0o600)
    return server
  }
  if (tls === undefined)
    throw new Error('enclave.tls is not set: without a unix socket both sides must prove themselves')
  const certificates = await certificatesIn(tls)
  const proven = { ...granted, requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.3' } as const
  const secure = createTlsServer({ ...proven, ...certificates.first }, listener)
  certificates.watch((renewed) => secure.setSecureContext({ ...proven, ...renewed }))
  const server = keepOpen(secure as unknown as Server)
  const at = new URL(`tcp://${listen}`)
  await once(server.listen(Number(at.port), at.hostname.replace(/[[\]]/g, '')), 'listening')
  return server
}

/** True when a process already listens at this path, so that the path must stay. */
const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const line = connect(path, () => {
      line.destroy()
      resolve(true)
    })
    line.once('error', () => resolve(false))
  })

/** The headers contain the grant of a call with all models of its key. */
const granted = { maxHeaderSize: 256 * 1024 }

/** The gateway's half of a call stays open as long as the answer. */
const keepOpen = (server: Server): Server => Object.assign(server, { keepAliveTimeout: patient, requestTimeout: 0 })
