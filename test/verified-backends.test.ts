import './fakes/unwatched.ts'
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { get } from 'node:https'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { clock } from '../adapters/memory/platform.ts'
import { verifyBackend } from '../adapters/production/backends/verify-backend.ts'
import { checkedConfig } from '../adapters/production/config/config.ts'
import { releaseDigest } from '../adapters/production/config/release-digest.ts'
import { chosenUpstream } from '../adapters/production/config/upstreams.ts'
import { connectedEnclaves } from '../adapters/production/enclave/enclave.ts'
import { fetch } from '../adapters/production/platform.ts'
import { Container } from '../core/container.ts'
import { UpstreamFailed } from '../core/errors.ts'
import { plugin, use } from '../core/plugin.ts'
import { Fetch } from '../core/ports/platform.ts'
import { Upstream } from '../core/ports/upstream.ts'
import { connect } from '../core/sealed/client/client.ts'
import type { SealgateError } from '../core/sealed/client/error.ts'
import type { CheckedReceipt } from '../core/sealed/client/receipts.ts'
import type { PlatformPolicy } from '../core/sealed/evidence/policy.ts'
import { Refusal } from '../core/sealed/evidence/reasons.ts'
import attestedTls from '../plugins/backend-evidence/attested-tls.ts'
import { running } from './environments.ts'
import {
  type Attest,
  confidentialBackend,
  documentOver,
  honest,
  madeAt,
  tlsIdentity,
} from './fakes/platform/confidential-backend.ts'
import { makeSnp } from './fakes/platform/snp.ts'
import { program } from './fakes/served.ts'
import { folderOf } from './helpers.ts'
import { until } from './until.ts'

const day = 86_400_000
const { roots } = makeSnp({ now: madeAt, reportData: new Uint8Array(64) })
const testRoots = { 'sev-snp': roots }
const measurements = ['ab'.repeat(48)]
const secret = 'the herons of Skerry Point'

/** Evidence that holds but for one thing. */
const changed =
  (change: Parameters<typeof documentOver>[2]): Attest =>
  (nonce, response, info) =>
    response.end(documentOver(info, nonce, change))

interface Case {
  readonly attest?: Attest
  readonly settings?: object
  /** The reason of a refusal; null for a backend that gives no document. */
  readonly reason: string | null
}

const read = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    get(url, { rejectUnauthorized: false, agent: false }, (answer) => {
      let text = ''
      answer.on('data', (part) => (text += part)).on('end', () => resolve(text))
    }).on('error', reject)
  })

/** What refuses a backend, each wrong in one thing. */
const cases = async (t: Test): Promise<Readonly<Record<string, Case>>> => {
  const real = await confidentialBackend(t)
  const relayed = (nonce: string) => read(`${real.base}/.well-known/sealgate-evidence?nonce=${nonce}`)
  const turin = { fmc: 1, bootloader: 1, tee: 1, snp: 1, microcode: 1 }
  return {
    'a machine in the middle with the real evidence': {
      attest: async (nonce, response) => response.end(await relayed(nonce)),
      reason: 'report_data_mismatch',
    },
    'evidence over another nonce': {
      attest: (_, response, info) => response.end(documentOver(info, '07'.repeat(32))),
      reason: 'report_data_mismatch',
    },
    'another measurement': {
      attest: changed({ report: (it) => void it.fill(0xac, 0x90, 0xc0) }),
      reason: 'measurement_not_allowed',
    },
    'another product': {
      settings: { policy: { measurements, 'sev-snp': { products: ['Turin'], floors: { Turin: turin } } } },
      reason: 'platform_not_allowed',
    },
    'a debugged machine': { attest: changed({ report: (it) => void (it[0x0a]! |= 0x08) }), reason: 'debug' },
    'a list that ended': {
      attest: changed({ crl: { issued: Date.now() - 60 * day, ends: Date.now() - 8 * day } }),
      reason: 'collateral_expired',
    },
    'a release that no evidence binds': {
      attest: (nonce, response, info) =>
        response.end(JSON.stringify({ ...JSON.parse(documentOver(info, nonce)), release: '01'.repeat(32) })),
      reason: 'report_data_mismatch',
    },
    'a document that is no JSON': { attest: (_, response) => response.end('<html>'), reason: 'SyntaxError' },
    'a document that is too long': {
      attest: (nonce, response, info) => response.end(documentOver(info, nonce) + ' '.repeat(512 * 1024)),
      reason: 'Error',
    },
    'no document': { attest: (_, response) => response.writeHead(404).end(), reason: null },
    'a document elsewhere': {
      attest: (nonce, response) =>
        response.writeHead(302, { location: `${real.base}/.well-known/sealgate-evidence?nonce=${nonce}` }).end(''),
      reason: null,
    },
    'a document under another status': {
      attest: (nonce, response, info) => response.writeHead(203).end(documentOver(info, nonce)),
      reason: null,
    },
    'no answer in time': { attest: () => undefined, settings: { timeout: 300 }, reason: null },
    'a certificate that no authority signed': { settings: { certificate: 'authority' }, reason: null },
  }
}

const demand = { certificate: 'any', renew: 600_000, timeout: 30_000 } as const
const form = attestedTls.create({}, {}, 'attested-tls')

t.test('each refusal has its reason', async (t) => {
  const it = await confidentialBackend(t)
  const verified = (origin: string, settings: object = {}, policy: PlatformPolicy = { measurements }) => {
    const wanted = { ...demand, origin, policy, ...settings }
    return verifyBackend({ ...wanted, policy: { ...wanted.policy, testRoots } }, form, clock.create({}, {}, 'clock'))
  }
  const line = await verified(it.base)
  const digest = createHash('sha256').update(it.documents[0]!).digest('hex')
  t.strictSame(line.proof, { kind: 'attested-tls', digest, platform: 'sev-snp', measurement: measurements[0] })
  t.ok(line.ends > Date.now() + 90 * day, 'the evidence ends with its list')
  await line.close()

  for (const [name, { attest = honest, settings, reason }] of Object.entries(await cases(t))) {
    const backend = await confidentialBackend(t, attest)
    const fault = await verified(backend.base, settings).then(
      () => null,
      (error: unknown) => error as Error,
    )
    t.equal(
      fault instanceof Refusal ? fault.reason : fault instanceof UpstreamFailed ? null : fault?.name,
      reason,
      name,
    )
    t.ok(fault, name)
  }
})

t.test('every connection of a line ends in the key of its evidence', async (t) => {
  const it = await confidentialBackend(t)
  const policy = { measurements, testRoots }
  const line = await verifyBackend({ ...demand, origin: it.base, policy }, form, clock.create({}, {}, 'clock'))
  const signal = new AbortController().signal
  const sent = () => line.door(`${it.base}/v1/chat`, { method: 'POST', body: secret, signal })
  const first = await sent()
  first.discard()
  t.equal(it.prompts.length, 1)
  t.notOk(line.isMoved())
  it.turn(tlsIdentity())
  await t.rejects(sent(), UpstreamFailed)
  t.equal(it.prompts.length, 1, 'no byte of the request goes out')
  t.ok(line.isMoved())
  await line.close()
})

/** An enclave process whose backends are these, and a gateway before it. */
const house = async (t: Test, providers: Readonly<Record<string, object>>, models: object) => {
  const socket = join(await folderOf(t), 'enclave.sock')
  const env = { PATH: process.env['PATH'], TEST_ROOT: Buffer.from(roots['Genoa']!).toString('hex') }
  const child = spawn(process.execPath, [resolve('dist/test/fakes/platform/enclave-process.js')], { env })
  t.teardown(() => child.kill('SIGKILL'))
  const routing = { retries: 0, breaker: { faults: 100_000, ratio: 1 } }
  child.stdin.write(`${JSON.stringify({ providers, models, routing, enclave: { listen: socket } })}\n`)
  let said = ''
  child.stderr.on('data', (part) => (said += part))
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(() => Promise.reject(new Error(said)))])
  const enclave = use(connectedEnclaves, { connect: [socket] })
  const it = await running(t, { ...memory(), fetch: use(fetch, {}), enclave })
  const client = connect({ baseUrl: it.base, apiKey: it.key, policy: { allowInsecureDev: true } })
  const ask = (model: string) => ({ model, messages: [{ role: 'user' as const, content: secret }] })
  return { ...it, client, ask }
}

const provider = (base: string, settings: object = {}) => ({
  use: 'openai',
  baseUrl: `${base}/v1`,
  evidence: { kind: 'attested-tls', policy: { measurements }, certificate: 'any', ...settings },
})
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
  const wrong = Object.entries(await cases(t))
  const backends = await Promise.all(wrong.map(([, { attest }]) => confidentialBackend(t, attest)))
  const providers = Object.fromEntries(
    wrong.map(([, { settings }], at) => [`p${at}`, provider(backends[at]!.base, settings)]),
  )
  const alone = Object.fromEntries(wrong.map((_, at) => [`m${at}`, model(`p${at}`)]))
  const models = { good: model('good'), chain: model('p2', 'good'), ...alone }
  const it = await house(t, { good: provider(good.base), ...providers }, models)

  for (const [at, [name]] of wrong.entries()) {
    t.equal(await codeOf(it.client.chat.completions.create(it.ask(`m${at}`))), 'backend_unverified', name)
    t.strictSame(backends[at]!.prompts, [], `${name}: nothing but the question for evidence`)
  }
  t.match(await it.client.chat.completions.create(it.ask('good')), {
    choices: [{ message: { content: 'It stands.' } }],
  })
  t.equal(good.asked.length, 1, 'the evidence serves further calls')
  const kept: CheckedReceipt[] = []
  const receipt = (told: CheckedReceipt) => void kept.push(told)
  await it.client.chat.completions.create(it.ask('chain'), { receipt })
  t.match(kept[0]!.facts, { backend: 'good' }, 'the next backend answers')
  t.strictSame(backends[2]!.prompts, [])
  t.ok(good.prompts.every((it) => it.startsWith('/v1/chat/completions ') && it.includes(secret)))
})

t.test('a receipt names the evidence under which the backend got the request', async (t) => {
  const backend = await confidentialBackend(t)
  const models = { quiet: model('proven'), open: model('open') }
  const it = await house(t, { proven: provider(backend.base), open: { use: 'rehearsal' } }, models)
  const kept: CheckedReceipt[] = []
  const receipt = (told: CheckedReceipt) => void kept.push(told)
  await it.client.chat.completions.create(it.ask('quiet'), { receipt })
  for await (const _ of await it.client.chat.completions.create({ ...it.ask('quiet'), stream: true }, { receipt }))
    void _
  await it.client.chat.completions.create(it.ask('open'), { receipt })
  const digest = createHash('sha256').update(backend.documents[0]!).digest('hex')
  const named = { kind: 'attested-tls', digest, platform: 'sev-snp', measurement: measurements[0] }
  t.strictSame(
    kept.map(({ facts }) => facts.backendEvidence),
    [named, named, undefined],
  )
  t.notOk(kept[2]!.receipt.text.includes('backendEvidence'), 'the receipt of another backend has its old form')

  const folder = await folderOf(t)
  const at = (name: string) => join(folder, name)
  const ran = (...args: readonly string[]) =>
    new Promise<string>((resolve) => {
      const env = { PATH: process.env['PATH'] }
      execFile(process.execPath, [program, ...args, '--allow-insecure-dev'], { env }, (_, out, err) =>
        resolve(out + err),
      )
    })
  await ran('verify', it.base, '--key', it.key, '--save', at('evidence.json'))
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
  const it = await house(t, { proven: provider(backend.base, { renew: 1_000 }) }, { quiet: model('proven') })
  let go = () => {}
  backend.state.streams = new Promise<void>((resolve) => (go = resolve))
  const kept: CheckedReceipt[] = []
  const receipt = (told: CheckedReceipt) => void kept.push(told)
  const stream = await it.client.chat.completions.create({ ...it.ask('quiet'), stream: true }, { receipt })
  const parts = stream[Symbol.asyncIterator]()
  t.match((await parts.next()).value, { choices: [{ delta: { content: 'It ' } }] })
  const before = backend.prompts.length
  t.ok(await until(() => backend.asked.length > 1, 30_000), 'the evidence is renewed while the stream runs')
  t.equal(new Set(backend.asked).size, backend.asked.length, 'each time under a fresh nonce')
  backend.state.attest = changed({ report: (it) => void it.fill(0xac, 0x90, 0xc0) })
  const refused = async () =>
    (await codeOf(it.client.chat.completions.create(it.ask('quiet')))) === 'backend_unverified'
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
  const it = await house(t, { proven: provider(backend.base) }, { quiet: model('proven') })
  const call = () => codeOf(it.client.chat.completions.create(it.ask('quiet')))
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

t.test('a configuration cannot weaken what an upstream demands', async (t) => {
  const refuses = async (choice: object, words: RegExp) =>
    t.rejects(chosenUpstream('providers.one', 'one', choice as never), { message: words })
  const evidence = (more: object) => ({ ...provider('https://backend.example', more) })
  await t.resolves(chosenUpstream('providers.one', 'one', evidence({})))
  await refuses({ ...provider('http://backend.example') }, /^providers\.one\.baseUrl: evidence needs an https URL/)
  await refuses({ ...evidence({}), baseUrl: undefined }, /^providers\.one\.baseUrl: evidence needs an https URL/)
  await refuses(evidence({ kind: 'unknown' }), /^providers\.one\.evidence\.kind: there is no unknown/)
  await refuses(evidence({ policy: {} }), /evidence\.policy names neither measurements nor a signed list/)
  await refuses(evidence({ policy: { releases: ['01'.repeat(32)] } }), /names neither measurements nor a signed list/)
  await refuses(evidence({ policy: { measurements, testRoots: { 'sev-snp': {} } } }), /testRoots/)
  await refuses(evidence({ policy: { measurements, memory: {} } }), /memory/)
  await refuses(evidence({ policy: { measurements, other: 1 } }), /other/)
  await refuses(evidence({ renew: 999 }), /renew/)
  await refuses(evidence({ certificate: 'none' }), /certificate/)

  const rehearsal = { ...provider('https://backend.example'), use: 'rehearsal' }
  await refuses(rehearsal, /baseUrl is not a known setting/)
})

const container = (door: () => never) => {
  const it = new Container()
  it.fit(use(clock))
  it.fit(use(plugin({ port: Fetch, name: 'fetch', create: (): Fetch => ({ upstream: door, outside: door }) })))
  return it
}

t.test('an upstream with evidence has no other door', async (t) => {
  const shared = () => {
    throw new Error('The shared door was used')
  }
  const signal = new AbortController().signal
  const backend = await confidentialBackend(t)
  const made = async (base: string, roots?: typeof testRoots) => {
    const it = container(shared)
    it.fit(await chosenUpstream('providers.one', 'one', provider(base), roots))
    t.teardown(() => it.dispose())
    return it.supply({ upstreams: Upstream }).upstreams[0]!
  }
  await t.resolves((await made(backend.base, testRoots)).models(signal).catch((error) => t.type(error, UpstreamFailed)))
  t.strictSame(backend.prompts, ['/v1/models '], 'over its own line')
  await t.rejects((await made(backend.base)).models(signal), {
    code: 'backend_unverified',
    cause: { reason: 'root_unknown' },
  })
  t.equal(backend.prompts.length, 1, 'a configuration alone trusts no test platform')
})

t.test('the release digest binds what is demanded, keys and variables as they count', async (t) => {
  const digestOf = async (evidence: object | undefined, env: NodeJS.ProcessEnv = {}, written: unknown = null) => {
    const choice = { use: 'openai', baseUrl: 'https://backend.example/v1', ...(evidence && { evidence }) }
    const config = checkedConfig({ providers: { one: choice } }, env)
    return Buffer.from(await releaseDigest(config, { written, options: [], arguments: [], variables: [] })).toString(
      'hex',
    )
  }
  const by = (...keys: readonly string[]) => ({ kind: 'attested-tls', policy: { releases: { keys, threshold: 1 } } })
  const [one, other] = ['01'.repeat(32), '02'.repeat(32)] as const
  t.equal(await digestOf(by(one)), await digestOf(by(one)))
  t.not(await digestOf(by(one)), await digestOf(by(other)), 'another key that signs releases')
  t.not(await digestOf(by(one)), await digestOf(undefined))
  const written = { providers: { one: { evidence: by('$KEY') } } }
  t.not(await digestOf(by('$KEY'), { KEY: one }, written), await digestOf(by('$KEY'), { KEY: other }, written))
})
