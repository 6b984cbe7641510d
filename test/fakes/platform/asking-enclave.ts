import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import type { Test } from 'tap'
import { memory } from '../../../adapters/memory/index.ts'
import { connectedEnclaves } from '../../../adapters/production/enclave/enclave.ts'
import { fetch } from '../../../adapters/production/platform.ts'
import { use } from '../../../core/plugin.ts'
import { connect } from '../../../plugins/sealed/client/client.ts'
import { running } from '../../environments.ts'
import { folderOf } from '../../helpers.ts'

/** A sealed client of an enclave process with these providers, each of which serves a model of its name. */
export const askingEnclave = async (t: Test, providers: Readonly<Record<string, object>>, tdxRoot: Uint8Array) => {
  const socket = join(await folderOf(t), 'enclave.sock')
  const env = { PATH: process.env['PATH'], TEST_TDX_ROOT: Buffer.from(tdxRoot).toString('hex') }
  const child = spawn(process.execPath, [resolve('dist/test/fakes/platform/enclave-process.js')], { env })
  t.teardown(() => child.kill('SIGKILL'))
  const models = Object.keys(providers).map((name) => [
    name,
    { type: 'CHAT', standard: false, confidential: true, upstreams: [{ provider: name, model: 'quiet' }] },
  ])
  const routing = { retries: 0, breaker: { faults: 100_000, ratio: 1 } }
  const config = { providers, models: Object.fromEntries(models), routing, enclave: { listen: socket } }
  child.stdin.write(`${JSON.stringify(config)}\n`)
  let output = ''
  child.stderr.on('data', (part) => (output += part))
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(() => Promise.reject(new Error(output)))])
  const enclave = use(connectedEnclaves, { connect: [socket] })
  const gateway = await running(t, { ...memory(), fetch: use(fetch, {}), enclave })
  const client = connect({ baseUrl: gateway.base, apiKey: gateway.key, policy: { allowInsecureDev: true } })
  return { client, said: () => output }
}
