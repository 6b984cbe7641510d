import './fakes/unwatched.ts'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { connectedEnclaves } from '../adapters/production/enclave/enclave.ts'
import { fetch } from '../adapters/production/platform.ts'
import { connect } from '../plugins/sealed/client/client.ts'
import type { SealgateError } from '../plugins/sealed/client/error.ts'
import type { CheckedReceipt } from '../plugins/sealed/client/receipts.ts'
import { use } from '../core/plugin.ts'
import { running } from './environments.ts'
import { commandRunner } from './fakes/command-runner.ts'
import { confidentialBackend, demandingProvider, honest, tlsIdentity } from './fakes/platform/confidential-backend.ts'
import { changed, measurements, testRoots, unverifiedBackends } from './fakes/platform/unverified-backends.ts'
import { folderOf } from './helpers.ts'
import { until } from './until.ts'

const command = commandRunner(t)
const secret = 'the herons of Skerry Point'

/** An enclave process whose backends are these, and a gateway before it. */
const house = async (t: Test, providers: Readonly<Record<string, object>>, models: object) => {
  const socket = join(await folderOf(t), 'enclave.sock')
  const env = { PATH: process.env['PATH'], TEST_ROOT: Buffer.from(testRoots['sev-snp']['Genoa']!).toString('hex') }
  const child = spawn(process.execPath, [resolve('dist/test/fakes/platform/enclave-process.js')], { env })
  t.teardown(() => child.kill('SIGKILL'))
  const routing = { retries: 0, breaker: { faults: 100_000, ratio: 1 } }
  child.stdin.write(`${JSON.stringify({ providers, models, routing, enclave: { listen: socket } })}\n`)
  let output = ''
  child.stderr.on('data', (part) => (output += part))
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(() => Promise.reject(new Error(output)))])
  const enclave = use(connectedEnclaves, { connect: [socket] })
  const gateway = await running(t, { ...memory(), fetch: use(fetch, {}), enclave })
  const client = connect({ baseUrl: gateway.base, apiKey: gateway.key, policy: { allowInsecureDev: true } })
  const ask = (model: string) => ({ model, messages: [{ role: 'user' as const, content: secret }] })
  return { ...gateway, client, ask }
}

const model = (...names: readonly string[]) => ({
  ...{ type: 'CHAT', standard: false, confidential: true },
  upstreams: names.map((provider, at) => ({ provider, model: 'quiet', priority: at + 1 })),
})

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: SealgateError) => error.code ?? error,
  )

t.test('an enclave process sends no prompt to a backend that is not verified', async (t) => {
  const good = await confidentialBackend(t)
  const wrong = Object.entries(await unverifiedBackends(t))
  const backends = await Promise.all(wrong.map(([, { attest }]) => confidentialBackend(t, attest)))
  const providers = Object.fromEntries(
    wrong.map(([, { settings }], at) => [`p${at}`, demandingProvider(backends[at]!.base, settings)]),
  )
  const alone = Object.fromEntries(wrong.map((_, at) => [`m${at}`, model(`p${at}`)]))
  const models = { good: model('good'), chain: model('p2', 'good'), ...alone }
  const gateway = await house(t, { good: demandingProvider(good.base), ...providers }, models)

  for (const [at, [name]] of wrong.entries()) {
    t.equal(await codeOf(gateway.client.chat.completions.create(gateway.ask(`m${at}`))), 'backend_unverified', name)
    t.strictSame(backends[at]!.prompts, [], `${name}: nothing but the question for evidence`)
  }
  t.match(await gateway.client.chat.completions.create(gateway.ask('good')), {
    choices: [{ message: { content: 'It stands.' } }],
  })
  t.equal(good.asked.length, 1, 'the evidence serves further calls')
  const kept: CheckedReceipt[] = []
  const receipt = (told: CheckedReceipt) => void kept.push(told)
  await gateway.client.chat.completions.create(gateway.ask('chain'), { receipt })
  t.match(kept[0]!.facts, { backend: 'good' }, 'the next backend answers')
  t.strictSame(backends[2]!.prompts, [])
  t.ok(good.prompts.every((prompt) => prompt.startsWith('/v1/chat/completions ') && prompt.includes(secret)))
})

t.test('a receipt names the evidence under which the backend got the request', async (t) => {
  const backend = await confidentialBackend(t)
  const models = {
    ...{ quiet: model('proven'), open: model('open') },
    hearing: { ...model('proven'), type: 'AUDIO_TRANSCRIPTION' },
  }
  const gateway = await house(t, { proven: demandingProvider(backend.base), open: { use: 'rehearsal' } }, models)
  const kept: CheckedReceipt[] = []
  const receipt = (told: CheckedReceipt) => void kept.push(told)
  await gateway.client.chat.completions.create(gateway.ask('quiet'), { receipt })
  for await (const _ of await gateway.client.chat.completions.create(
    { ...gateway.ask('quiet'), stream: true },
    { receipt },
  ))
    void _
  await gateway.client.chat.completions.create(gateway.ask('open'), { receipt })
  const file = { name: 'log.mp3', bytes: new Uint8Array(1024) }
  await gateway.client.audio.transcriptions.create({ file, model: 'hearing' }, { receipt })
  const digest = createHash('sha256').update(backend.documents[0]!).digest('hex')
  const named = { kind: 'attested-tls', digest, platform: 'sev-snp', measurement: measurements[0] }
  t.strictSame(
    kept.map(({ facts }) => facts.backendEvidence),
    [named, named, undefined, named],
  )
  t.notOk(kept[2]!.receipt.text.includes('backendEvidence'), 'the receipt of another backend has its old form')

  const folder = await folderOf(t)
  const at = (name: string) => join(folder, name)
  const ran = async (...args: readonly string[]) => {
    const { stdout, stderr } = await command([...args, '--allow-insecure-dev'], {})
    return stdout + stderr
  }
  await ran('verify', gateway.base, '--key', gateway.key, '--save', at('evidence.json'))
  const shown = async (receipt: CheckedReceipt) => {
    await writeFile(at('receipt.json'), JSON.stringify(receipt))
    return ran('receipt', 'verify', at('receipt.json'), '--evidence', at('evidence.json'))
  }
  t.ok(
    (await shown(kept[0]!)).includes(
      `✓ the enclave verified the backend: sev-snp, measurement ${measurements[0]}, attested-tls ${digest}\n`,
    ),
  )
  t.notMatch(await shown(kept[2]!), /verified the backend/)
})

t.test('evidence that turns bad ends for new requests, and running streams end by themselves', async (t) => {
  const backend = await confidentialBackend(t)
  const gateway = await house(
    t,
    { proven: demandingProvider(backend.base, { renew: 1_000 }) },
    { quiet: model('proven') },
  )
  let go = () => {}
  backend.state.streams = new Promise<void>((resolve) => (go = resolve))
  const kept: CheckedReceipt[] = []
  const receipt = (told: CheckedReceipt) => void kept.push(told)
  const stream = await gateway.client.chat.completions.create({ ...gateway.ask('quiet'), stream: true }, { receipt })
  const parts = stream[Symbol.asyncIterator]()
  t.match((await parts.next()).value, { choices: [{ delta: { content: 'It ' } }] })
  const before = backend.prompts.length
  t.ok(await until(() => backend.asked.length > 1, 30_000), 'the evidence is renewed while the stream runs')
  t.equal(new Set(backend.asked).size, backend.asked.length, 'each time under a fresh nonce')
  backend.state.attest = changed({ report: (bytes) => void bytes.fill(0xac, 0x90, 0xc0) })
  const refused = async () =>
    (await codeOf(gateway.client.chat.completions.create(gateway.ask('quiet')))) === 'backend_unverified'
  t.ok(await until(refused, 30_000, 100), 'new requests are refused')
  const sent = backend.prompts.length
  t.ok(await refused())
  t.equal(backend.prompts.length, sent, 'and none goes out')
  go()
  const rest: unknown[] = []
  for (;;) {
    const { done, value } = await parts.next()
    if (done) break
    rest.push(value)
  }
  t.match(rest[0], { choices: [{ delta: { content: 'stands.' } }] }, 'the running stream comes to its end')
  t.ok(sent >= before)
  const first = createHash('sha256').update(backend.documents[0]!).digest('hex')
  t.equal(kept[0]!.facts.backendEvidence?.digest, first, 'its receipt names the evidence with which it began')

  backend.state.attest = honest
  t.ok(await until(async () => !(await refused()), 30_000, 100), 'good evidence serves again')
})

t.test('a backend with a new key is verified anew', async (t) => {
  const backend = await confidentialBackend(t)
  const gateway = await house(t, { proven: demandingProvider(backend.base) }, { quiet: model('proven') })
  const call = () => codeOf(gateway.client.chat.completions.create(gateway.ask('quiet')))
  t.equal(await call(), null)
  const next = tlsIdentity()
  backend.turn(next)
  // The evidence is still over the key before.
  t.ok(await until(async () => (await call()) === 'backend_unverified', 30_000, 100))
  t.equal(backend.prompts.length, 1)
  backend.state.info = next.info
  t.ok(await until(async () => (await call()) === null, 30_000, 100))
  t.equal(backend.prompts.length, 2)
})

t.test('sealgate check shows why a backend is refused', async (t) => {
  const [refused, silent] = await Promise.all([
    confidentialBackend(t),
    confidentialBackend(t, (_, response) => response.writeHead(404).end()),
  ])
  const folder = await folderOf(t)
  const file = join(folder, 'sealgate.json')
  const providers = { private: demandingProvider(refused.base), silent: demandingProvider(silent.base) }
  await writeFile(file, JSON.stringify({ providers: { one: demandingProvider(refused.base) }, enclave: { providers } }))
  const { code, stdout: out } = await command(['check', file], { SEALGATE_DATA: folder })
  t.equal(code, 1)
  t.match(out, /^✗ providers\.one: its evidence is refused \(root_unknown\)$/m)
  t.match(out, /^✗ enclave\.providers\.private: its evidence is refused \(root_unknown\)$/m)
  t.match(out, /^✗ enclave\.providers\.silent: it gave no evidence$/m)
  t.strictSame([...refused.prompts, ...silent.prompts], [])
})
