import './fakes/unwatched.ts'
import { fork } from 'node:child_process'
import { createServer } from 'node:http'
import { resolve } from 'node:path'
import t, { type Test } from 'tap'
import { clock } from '../adapters/memory/platform.ts'
import { verifyBackend } from '../adapters/production/backends/verify-backend.ts'
import attestedTls from '../plugins/backend-evidence/attested-tls.ts'
import { connect } from '../plugins/sealed/client/client.ts'
import type { SealgateError } from '../plugins/sealed/client/error.ts'
import { tdxMeasurement } from '../plugins/sealed/evidence/measurement.ts'
import type { PlatformPolicy } from '../plugins/sealed/evidence/policy.ts'
import type { Refusal } from '../plugins/sealed/evidence/reasons.ts'
import { readQuote } from '../plugins/sealed/evidence/tdx-quote.ts'
import { askingEnclave } from './fakes/platform/asking-enclave.ts'
import { demandingProvider, madeAt, tlsIdentity } from './fakes/platform/confidential-backend.ts'
import { house, testRoots } from './fakes/platform/house.ts'
import { listening } from './fakes/listening.ts'
import type { Boot, FromMachine } from './fakes/platform/machine-process.ts'
import { makeTdx } from './fakes/platform/tdx.ts'

const secret = 'the herons of Skerry Point'
const reportOf = (reportData: Uint8Array) => makeTdx({ now: madeAt, shared: true, reportData })
const shown = reportOf(new Uint8Array(64))
const tdxRoot = shown.roots
const measurements = [await tdxMeasurement(readQuote(new Uint8Array(Buffer.from(shown.evidence.quote, 'hex'))).body)]
/** The chip of every report here; a twin that is not enrolled cannot sign for it. */
const ppids = ['aa'.repeat(16)]
const profiles: Readonly<Record<'standard' | 'strict' | 'dev', object>> = {
  standard: {},
  strict: { profile: 'strict' },
  dev: { profile: 'dev' },
}
const policyOf = (profile: keyof typeof profiles) => ({
  ...{ platforms: ['tdx'], measurements, tdx: { ppids } },
  ...profiles[profile],
})

/** A machine as a process of its own, whose chip is this process. */
const machine = async (t: Test, boot: Boot) => {
  const child = fork(resolve('dist/test/fakes/platform/machine-process.js'), [], { execArgv: [] })
  t.teardown(() => child.kill('SIGKILL'))
  const prompts: string[] = []
  const based = new Promise<string>((done, fail) => {
    child.once('exit', () => fail(new Error('the machine ended')))
    child.on('message', (message: FromMachine) => {
      if ('base' in message) done(message.base)
      else if ('prompt' in message) prompts.push(message.prompt)
      else {
        const { evidence } = reportOf(new Uint8Array(Buffer.from(message.reportData, 'hex')))
        child.send({ id: message.id, evidence })
      }
    })
  })
  child.send(boot)
  return { base: await based, prompts }
}

/** Asks an enclave process whose backends these are. */
const asking = async (t: Test, backends: Readonly<Record<string, readonly [base: string, policy: object]>>) => {
  const named = Object.entries(backends)
  const providers = named.map(([name, [base, policy]]) => [name, demandingProvider(base, { policy })])
  const { client } = await askingEnclave(t, Object.fromEntries(providers), tdxRoot)
  return (model: string): Promise<string> =>
    client.chat.completions.create({ model, messages: [{ role: 'user', content: secret }] }).then(
      ({ choices }) => String(choices[0]?.message.content),
      (error: SealgateError) => error.code ?? String(error),
    )
}

const form = attestedTls.create({}, {}, 'attested-tls')
const reason = (origin: string, policy: object): Promise<string> => {
  const demand = { certificate: 'any', renew: 600_000, timeout: 30_000, origin } as const
  const trusted = { ...(policy as PlatformPolicy), testRoots: { tdx: tdxRoot } }
  return verifyBackend({ ...demand, policy: trusted }, form, clock.create({}, {}, 'clock'), () => {}).then(
    (line) => line.close().then(() => 'taken'),
    ({ reason, detail }: Refusal) => (detail === null ? reason : `${reason}: ${detail}`),
  )
}

t.test(
  'the report of one machine, presented by another of the same image, is refused in every profile but dev',
  async (t) => {
    const { info, ...rest } = tlsIdentity()
    const own = { ...rest, info: Buffer.from(info).toString('hex') }
    const backends: Record<string, readonly [base: string, policy: object]> = {}
    const reasons: Record<string, string> = {}
    const machines: Record<string, Awaited<ReturnType<typeof machine>>> = {}
    for (const version of [1, 2] as const) {
      const enrolled = await machine(t, { own, version, presents: null })
      const twin = await machine(t, { own, version, presents: enrolled.base })
      for (const profile of ['standard', 'strict', 'dev'] as const)
        for (const [name, { base }] of Object.entries({ enrolled, twin })) {
          const row = `${name} by version ${version}, ${profile}`
          backends[row.replaceAll(/[ ,]+/g, '-')] = [base, policyOf(profile)]
          reasons[row] = await reason(base, policyOf(profile))
        }
      Object.assign(machines, { [`enrolled${version}`]: enrolled, [`twin${version}`]: twin })
    }
    t.strictSame(reasons, {
      'enrolled by version 1, standard': 'policy_refused: key alone',
      'twin by version 1, standard': 'policy_refused: key alone',
      'enrolled by version 1, strict': 'policy_refused: key alone',
      'twin by version 1, strict': 'policy_refused: key alone',
      'enrolled by version 1, dev': 'taken',
      'twin by version 1, dev': 'taken',
      'enrolled by version 2, standard': 'taken',
      'twin by version 2, standard': 'report_data_mismatch',
      'enrolled by version 2, strict': 'taken',
      'twin by version 2, strict': 'report_data_mismatch',
      'enrolled by version 2, dev': 'taken',
      'twin by version 2, dev': 'report_data_mismatch',
    })

    const chat = await asking(t, backends)
    for (const [row, verdict] of Object.entries(reasons)) {
      const wanted = verdict === 'taken' ? 'It stands.' : 'backend_unverified'
      t.equal(await chat(row.replaceAll(/[ ,]+/g, '-')), wanted, `a sealed chat: ${row}`)
    }
    t.strictSame(machines['twin2']!.prompts, [], 'no prompt reached the twin')
    t.equal(machines['twin1']!.prompts.length, 1, 'the profile dev alone gives a prompt away')
    t.equal(machines['enrolled2']!.prompts.length, 3)
  },
)

t.test('the evidence of one enclave, laid beside the keys of another of the same image, is refused', async (t) => {
  const gateway = await house(t, [0xab, 0xab])
  let relays = true
  const relay = createServer((request, response) => {
    const ask = (query: string) =>
      globalThis.fetch(gateway.base + request.url + query, {
        headers: { authorization: String(request.headers.authorization) },
      })
    const answer = async () => {
      const [one, other] = [await ask('&enclave=e0'), await ask('&enclave=e1')]
      const { keyset } = (await other.json()) as { keyset: string }
      const body = (await one.json()) as object
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ ...body, ...(relays && { keyset }) }))
    }
    void answer()
  })
  const { port } = await listening(t, relay, '127.0.0.1')
  const verified = (policy: object) =>
    connect({
      ...{ baseUrl: `http://127.0.0.1:${port}`, apiKey: gateway.key },
      policy: { testRoots, measurements: ['ab'.repeat(48)], ...policy },
    })
      .verify()
      .then(
        ({ verified }) => verified,
        (error: SealgateError) => error.reason ?? error.message,
      )
  for (const policy of [{}, { profile: 'dev' }]) {
    relays = true
    t.equal(await verified(policy), 'report_data_mismatch')
    relays = false
    t.equal(await verified(policy), 'test', 'the same enclave with its own keys')
  }
})
