import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { get } from 'node:https'
import t from 'tap'
import * as v from 'valibot'
import { clock } from '../../../../adapters/memory/platform.ts'
import { verifiedUpstream } from '../../../../adapters/production/backends/verified-upstream.ts'
import { verifyBackend } from '../../../../adapters/production/backends/verify-backend.ts'
import { checkedConfig } from '../../../../adapters/production/config/config.ts'
import { releaseDigest } from '../../../../adapters/production/config/release-digest.ts'
import { chosenUpstream } from '../../../../adapters/production/config/upstreams.ts'
import { Container } from '../../../../core/container.ts'
import { type ModelUse, runErrand } from '../../../../plugins/shared/errand.ts'
import { UpstreamFailed } from '../../../../core/errors.ts'
import { defaultQueue } from '../../../../plugins/shared/fair-shares.ts'
import { summedUses } from '../../../../plugins/sealed/usage-scope.ts'
import { entryOf } from '../../../../core/inference/models/catalog-entry.ts'
import { candidateOf } from '../../../../plugins/shared/models/candidate.ts'
import { runForTool } from '../../../../plugins/shared/run-for-tool.ts'
import { plugin, use } from '../../../../core/plugin.ts'
import { Fetch, Log } from '../../../../core/ports/platform.ts'
import { Upstream } from '../../../../core/ports/upstream.ts'
import { tdxMeasurement } from '../../../../plugins/sealed/evidence/measurement.ts'
import type { PlatformPolicy } from '../../../../plugins/sealed/evidence/policy.ts'
import { Refusal } from '../../../../plugins/sealed/evidence/reasons.ts'
import { ModelSettings } from '../../../../core/settings.ts'
import attestedTls from '../../../../plugins/backend-evidence/attested-tls.ts'
import {
  boundTo,
  confidentialBackend,
  demandingProvider,
  exporterOf,
  honest,
  keyAlone,
  madeAt,
  tlsIdentity,
} from '../../../fakes/platform/confidential-backend.ts'
import { makeTdx } from '../../../fakes/platform/tdx.ts'
import { until } from '../../../until.ts'
import { measurements, testRoots, unverifiedBackends } from '../../../fakes/platform/unverified-backends.ts'
import { given } from '../../../fitted.ts'

const day = 86_400_000
const secret = 'the herons of Skerry Point'
const demand = { certificate: 'any', renew: 600_000, timeout: 30_000 } as const
const form = attestedTls.create({}, {}, 'attested-tls')

t.test('each refusal has its reason', async (t) => {
  const confidential = await confidentialBackend(t)
  const verified = (origin: string, settings: object = {}, policy: PlatformPolicy = { measurements }) => {
    const wanted = { ...demand, origin, policy, ...settings }
    return verifyBackend(
      { ...wanted, policy: { ...wanted.policy, testRoots } },
      form,
      clock.create({}, {}, 'clock'),
      () => {},
    )
  }
  const line = await verified(confidential.base)
  const digest = createHash('sha256').update(confidential.documents[0]!).digest('hex')
  t.strictSame(line.proof, { kind: 'attested-tls', digest, platform: 'sev-snp', measurement: measurements[0] })
  t.ok(line.ends > Date.now() + 90 * day, 'the evidence ends with its list')
  await line.close()

  for (const [name, { attest = honest, settings, reason }] of Object.entries(await unverifiedBackends(t))) {
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

t.test('a backend on TDX is verified by the same form', async (t) => {
  const roots: { tdx?: Uint8Array } = {}
  const body = (quote: string) => Buffer.from(quote, 'hex').subarray(48)
  const registers = (bytes: Buffer) => [328, 376, 424, 472].map((at) => new Uint8Array(bytes.subarray(at, at + 48)))
  const part = (bytes: Buffer, at: number) => new Uint8Array(bytes.subarray(at, at + 48))
  const confidential = await confidentialBackend(t, (nonce, response, info) => {
    const { evidence, roots: tdx } = makeTdx({
      now: madeAt,
      reportData: boundTo(info, nonce, exporterOf(response, nonce)),
    })
    roots.tdx = tdx
    response.end(JSON.stringify({ version: 2, evidence }))
  })
  const bytes = body(makeTdx({ now: madeAt, reportData: new Uint8Array(64) }).evidence.quote)
  const measurement = await tdxMeasurement({
    ...{ mrtd: part(bytes, 136), rtmr: registers(bytes) },
    ...{ configId: part(bytes, 184), owner: part(bytes, 232), ownerConfig: part(bytes, 280) },
  })
  const verified = (measurements: readonly string[]) => {
    const policy = { platforms: ['tdx'] as const, measurements, testRoots: roots }
    return verifyBackend(
      { ...demand, origin: confidential.base, policy },
      form,
      clock.create({}, {}, 'clock'),
      () => {},
    )
  }
  const line = await verified([measurement])
  t.match(line.proof, { platform: 'tdx', measurement })
  await line.close()
  const refusal: unknown = await verified(['00'.repeat(48)]).catch((error: unknown) => error)
  t.match(refusal, { reason: 'measurement_not_allowed' })
})

t.test('a relay of the same image and the same TLS key is refused in every profile but dev', async (t) => {
  const own = tlsIdentity()
  const asked = (base: string, nonce: string) =>
    new Promise<string>((resolve, reject) => {
      const place = `${base}/.well-known/sealgate-evidence?nonce=${nonce}`
      get(place, { rejectUnauthorized: false, agent: false }, (answer) => {
        let text = ''
        answer.on('data', (part) => (text += part)).on('end', () => resolve(text))
      }).on('error', reject)
    })
  const strict = {
    ...{ profile: 'strict' as const, platforms: ['sev-snp'] as const },
    'sev-snp': { chips: ['00'.repeat(64)], mitigations: { launch: '00'.repeat(8), current: '00'.repeat(8) } },
  }
  const fates: Record<string, unknown> = {}
  for (const [version, attest] of [
    ['version 1', keyAlone],
    ['version 2', honest],
  ] as const) {
    const real = await confidentialBackend(t, attest, own)
    // Who holds the TLS key of the fleet ends the connection, and fetches the evidence of the real machine.
    const relay = await confidentialBackend(
      t,
      async (nonce, response) => response.end(await asked(real.base, nonce)),
      own,
    )
    for (const [profile, policy] of Object.entries({ standard: {}, strict, dev: { profile: 'dev' as const } })) {
      const full = { measurements, testRoots, ...policy }
      const wanted = { ...demand, origin: relay.base, policy: full }
      fates[`${version}, ${profile}`] = await verifyBackend(wanted, form, clock.create({}, {}, 'clock'), () => {}).then(
        (line) => line.close().then(() => 'taken'),
        (error: Refusal) => `${error.reason}: ${error.detail}`,
      )
    }
    t.strictSame([...relay.prompts, ...real.prompts], [], 'no prompt left')
  }
  t.strictSame(fates, {
    'version 1, standard': 'policy_refused: key alone',
    'version 1, strict': 'policy_refused: key alone',
    'version 1, dev': 'taken',
    'version 2, standard': 'report_data_mismatch: null',
    'version 2, strict': 'platform_not_allowed: Genoa',
    'version 2, dev': 'report_data_mismatch: null',
  })
})

t.test('each connection of a line brings evidence of its own', async (t) => {
  const confidential = await confidentialBackend(t)
  const policy = { measurements, testRoots }
  let moves = 0
  const line = await verifyBackend(
    { ...demand, origin: confidential.base, policy },
    form,
    clock.create({}, {}, 'clock'),
    () => moves++,
  )
  const signal = new AbortController().signal
  const sent = () => line.door(`${confidential.base}/v1/chat`, { method: 'POST', body: secret, signal })
  const answers = await Promise.all([sent(), sent(), sent()])
  t.equal(confidential.asked.length, 3, 'three connections, three questions')
  t.equal(new Set(confidential.asked).size, 3, 'under three nonces')
  for (const answer of answers) for await (const _ of answer.body);
  for await (const _ of (await sent()).body);
  t.equal(confidential.asked.length, 3, 'a connection that rests is used again')
  t.equal(confidential.prompts.length, 4)
  confidential.state.attest = keyAlone
  const [kept, refused] = [sent(), Promise.all([sent(), sent(), sent()])]
  await kept
  await t.rejects(refused, { code: 'backend_unverified', cause: { reason: 'policy_refused' } })
  t.equal(moves, 1, 'the next call asks for evidence anew')
  await line.close()
})

t.test('a model that works for a tool tells its evidence', async (t) => {
  const proven = { kind: 'attested-tls', digest: '01'.repeat(32), platform: 'tdx', measurement: '02'.repeat(48) }
  const uses: ModelUse[] = []
  const upstream = { name: 'one', models: async () => [], chat: async () => assert.fail() }
  const settings = v.parse(ModelSettings, { type: 'CHAT', upstreams: [{ provider: 'one' }] })
  const entry = entryOf('quiet', settings, [candidateOf(upstream, 'quiet')])
  const answers: unknown[] = [{ proven }, {}]
  const inference = { run: async () => ({ answer: answers.shift(), backend: 'one' }) }
  const supplied = { catalog: { list: async () => [entry] }, inference } as unknown as Parameters<typeof runForTool>[0]
  const work = () =>
    runForTool(
      supplied,
      { ability: 'chat' },
      async () => ({}),
      () => ({}),
      new AbortController().signal,
    )
  await runErrand({ organization: 'o', key: 'k', queue: defaultQueue, models: null, uses }, async () => {
    await work()
    t.match(summedUses(uses), { backend: 'one', proven })
    await work()
  })
  t.notOk('proven' in summedUses(uses), 'the last use counts')
})

t.test('every connection of a line ends in the key of its evidence', async (t) => {
  const confidential = await confidentialBackend(t)
  const policy = { measurements, testRoots }
  let moves = 0
  const line = await verifyBackend(
    { ...demand, origin: confidential.base, policy },
    form,
    clock.create({}, {}, 'clock'),
    () => moves++,
  )
  const signal = new AbortController().signal
  const sent = () => line.door(`${confidential.base}/v1/chat`, { method: 'POST', body: secret, signal })
  const first = await sent()
  first.discard()
  t.equal(confidential.prompts.length, 1)
  t.equal(moves, 0)
  confidential.turn(tlsIdentity())
  // The first call may still find the connection that the backend closes.
  const isMoved = async () => {
    await t.rejects(sent(), UpstreamFailed)
    return moves === 1
  }
  t.ok(await until(isMoved, 10_000, 50))
  t.equal(confidential.prompts.length, 1, 'no byte of the request goes out')
  await line.close()
})

t.test('a configuration cannot weaken what an upstream demands', async (t) => {
  const refuses = async (choice: object, words: RegExp) =>
    t.rejects(chosenUpstream(['providers', 'one'], 'one', choice as never), { message: words })
  const evidence = (more: object) => ({ ...demandingProvider('https://backend.example', more) })
  await t.resolves(chosenUpstream(['providers', 'one'], 'one', evidence({})))
  await refuses(
    { ...demandingProvider('http://backend.example') },
    /^providers\.one\.baseUrl: evidence needs an https URL/,
  )
  await refuses({ ...evidence({}), baseUrl: undefined }, /^providers\.one\.baseUrl: evidence needs an https URL/)
  await refuses(evidence({ kind: 'unknown' }), /^providers\.one\.evidence\.kind: there is no unknown/)
  await refuses(evidence({ policy: {} }), /evidence\.policy names neither measurements nor a signed list/)
  await refuses(evidence({ policy: { releases: ['01'.repeat(32)] } }), /names neither measurements nor a signed list/)
  await refuses(evidence({ policy: { measurements, testRoots: { 'sev-snp': {} } } }), /testRoots/)
  await refuses(evidence({ policy: { measurements, memory: {} } }), /memory/)
  await refuses(evidence({ policy: { measurements, other: 1 } }), /other/)
  await refuses(evidence({ renew: 999 }), /renew/)
  await refuses(evidence({ certificate: 'none' }), /certificate/)

  const rehearsal = { ...demandingProvider('https://backend.example'), use: 'rehearsal' }
  await refuses(rehearsal, /baseUrl is not a known setting/)
})

const container = (door: () => never, warn: Log['warn']) => {
  const container = new Container()
  container.fit(use(clock))
  container.fit(given(Fetch, 'fetch', () => ({ upstream: door, outside: door })))
  container.fit(given(Log, 'log', () => ({ info() {}, warn, error() {} })))
  return container
}

t.test('an upstream with evidence has no other door', async (t) => {
  const shared = () => {
    throw new Error('The shared door was used')
  }
  const signal = new AbortController().signal
  const logged: object[] = []
  const backend = await confidentialBackend(t)
  const made = async (base: string, roots?: typeof testRoots) => {
    const verifier = container(shared, (event, facts) => void logged.push({ event, ...facts }))
    verifier.fit(await chosenUpstream(['providers', 'one'], 'one', demandingProvider(base), roots))
    t.teardown(() => verifier.dispose())
    return verifier.supply({ upstreams: Upstream }).upstreams[0]!
  }
  await t.resolves((await made(backend.base, testRoots)).models(signal).catch((error) => t.type(error, UpstreamFailed)))
  t.strictSame(backend.prompts, ['/v1/models '], 'over its own line')
  await t.rejects((await made(backend.base)).models(signal), {
    code: 'backend_unverified',
    cause: { reason: 'root_unknown' },
  })
  t.strictSame(logged, [{ event: 'backend.refused', provider: 'one', reason: 'root_unknown' }])
  t.equal(backend.prompts.length, 1, 'a configuration alone trusts no test platform')
})

t.test('an upstream with evidence reaches one origin, and nothing that a model names', async (t) => {
  const [own, other] = await Promise.all([confidentialBackend(t), confidentialBackend(t)])
  const shared = () => assert.fail()
  const reaching = (door: 'upstream' | 'outside', base: string) => {
    const wandering = plugin({
      port: Upstream,
      name: 'wandering',
      needs: { fetch: Fetch },
      create: ({ fetch }): Upstream => ({
        name: 'wandering',
        async models(signal) {
          const answer = await fetch[door](`${base}/v1/models`, { method: 'GET', signal })
          answer.discard()
          return []
        },
      }),
    })
    const verifier = container(shared, () => undefined)
    const policy = { measurements, testRoots }
    verifier.fit(verifiedUpstream(use(wandering), use(attestedTls), { ...demand, origin: own.base, policy }))
    t.teardown(() => verifier.dispose())
    return verifier.supply({ upstreams: Upstream }).upstreams[0]!.models(new AbortController().signal)
  }
  t.strictSame(await reaching('upstream', own.base), [])
  await t.rejects(reaching('upstream', other.base), UpstreamFailed)
  // The same server with the same key, under another name.
  await t.rejects(reaching('upstream', own.base.replace('127.0.0.1', 'localhost')), UpstreamFailed)
  await t.rejects(reaching('outside', own.base), UpstreamFailed)
  t.strictSame([own.prompts, other.prompts], [['/v1/models '], []])
})

t.test('a verified backend tells what a decision cost that fails', async (t) => {
  const { base } = await confidentialBackend(t)
  const costly = plugin({
    port: Upstream,
    name: 'costly',
    needs: { fetch: Fetch },
    create: (): Upstream => ({
      name: 'costly',
      models: async () => [],
      async decide(_call, _signal, spent) {
        spent?.({ input: 7, output: 1 })
        throw new UpstreamFailed('The answer is of no use')
      },
    }),
  })
  const verifier = container(
    () => assert.fail(),
    () => undefined,
  )
  const policy = { measurements, testRoots }
  verifier.fit(verifiedUpstream(use(costly), use(attestedTls), { ...demand, origin: base, policy }))
  t.teardown(() => verifier.dispose())
  const call = { model: 'm', state: '', questions: [], images: [], samples: null, steps: null }
  const used: object[] = []
  const { decide } = verifier.supply({ upstreams: Upstream }).upstreams[0]!
  await t.rejects(
    decide!(call, new AbortController().signal, (usage) => void used.push(usage)),
    UpstreamFailed,
  )
  t.strictSame(used, [{ input: 7, output: 1 }])
})

t.test('a provider that asks no backend has no use for evidence', async (t) => {
  const idle = given(Upstream, 'idle', () => ({ name: 'idle', models: async () => [] }))
  const verifier = container(
    () => assert.fail(),
    () => undefined,
  )
  verifier.fit(verifiedUpstream(idle, use(attestedTls), { ...demand, origin: 'https://backend.example', policy: {} }))
  t.throws(() => verifier.supply({ upstreams: Upstream }), { message: /^idle has no use for evidence/ })
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
