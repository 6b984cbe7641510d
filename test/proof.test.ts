import './fakes/unwatched.ts'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { localGateway } from '../adapters/local/seal/local-gateway.ts'
import { connectedEnclaves } from '../adapters/production/enclave/enclave.ts'
import { connect } from '../plugins/sealed/client/client.ts'
import type { SealgateError } from '../plugins/sealed/client/error.ts'
import type { Policy } from '../plugins/sealed/client/verify.ts'
import type { SeenNumbers } from '../plugins/sealed/evidence/finding.ts'
import { use } from '../core/plugin.ts'
import { running } from './environments.ts'
import { servesGateway } from './fakes/listening.ts'
import { day, house, list, now, platform, prover, release, testRoots } from './fakes/platform/house.ts'
import { releaseSigner } from './fakes/platform/releases.ts'
import { answersFor } from './fakes/platform/services.ts'
import { makeSnp } from './fakes/platform/snp.ts'
import { enclosed, program } from './fakes/served.ts'
import { folderOf } from './helpers.ts'
import { until } from './until.ts'

const question = { model: 'rehearsal', messages: [{ role: 'user' as const, content: 'Hi' }] }
const reasonOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: SealgateError) => error.reason ?? error,
  )

/** What `sealgate seal` serves with this client: a question in the clear on its own machine. */
const sealing = async (t: Test, client: ReturnType<typeof connect>) => {
  const local = await localGateway({ client, apiKey: 'key', streams: 1, guards: [], admit: async () => false })
  const base = await servesGateway(t, local)
  return () => globalThis.fetch(`${base}/v1/chat/completions`, { method: 'POST', body: JSON.stringify(question) })
}

t.test('from an enclave process to a client: collateral ends, is told, and comes back', async (t) => {
  const gateway = await house(t, [0xab])
  const policy: Policy = { measurements: ['ab'.repeat(48)] }
  const client = gateway.client(policy)
  t.match(await client.chat.completions.create(question), { choices: [{}] })
  t.match(await client.verify(), { verified: 'test', product: 'Genoa', challenge: true })
  const ready = async () => ((await (await gateway.call('GET', '/health/ready')).json()) as { data: object }).data
  t.strictSame(await ready(), { ready: true })
  t.match(
    await (await gateway.call('GET', '/metrics')).text(),
    /sealgate_evidence_collateral_ends_seconds\{piece="crl"\} \d{6}/,
  )

  const many = await Promise.all(Array.from({ length: 12 }, () => gateway.client(policy).verify()))
  t.ok(
    many.every(({ verified }) => verified === 'test'),
    'in batches too',
  )

  const other = await house(t, [0xab])
  const ended = makeSnp({ now, reportData: new Uint8Array(64), crl: { issued: now - 60 * day, ends: now - 8 * day } })
  other.service.say({ crl: answersFor(ended.evidence)['crl']! })
  const late = other.client(policy)
  t.equal(await reasonOf(late.chat.completions.create(question)), 'collateral_expired', 'served, and refused')
  t.match(await (await other.call('GET', '/health/ready')).json(), { data: { ready: true, degraded: ['crl'] } })
  t.match(await (await other.call('GET', '/metrics')).text(), /ends_seconds\{piece="crl"\} 0\n/)
  t.ok(await until(() => other.logged.some(({ event }) => event === 'evidence.refused')), 'the gateway looks first')
  t.ok(other.logged.some(({ event, facts }) => event === 'collateral.ended' && facts['piece'] === 'crl'))
  const door = await sealing(t, late)
  t.equal((await door()).status, 502, 'sealgate seal refuses, too')
  other.service.say(answersFor(platform.evidence))
  t.ok(await until(async () => (await reasonOf(late.verify())) === null, 30_000), 'within ten seconds')
  t.match(await (await door()).json(), { choices: [{}] }, 'and serves again')
  t.match(await late.chat.completions.create(question), { choices: [{}] })
  t.ok(other.logged.some(({ event }) => event === 'collateral.back'))
})

t.test('two releases at once, roll forward, roll back, withdrawn', async (t) => {
  const gateway = await house(t, [0xaa, 0xbb])
  const [old, fresh] = [await gateway.digestOf('e0'), await gateway.digestOf('e1')]
  t.not(old, fresh, 'two configurations')
  let seen: SeenNumbers = {}
  const memory = { load: () => seen, save: (next: SeenNumbers) => void (seen = next) }
  const policy: Policy = { releases: { keys: [gateway.signer.key], threshold: 1 }, memory }
  const stop = async (at: number) => {
    gateway.children[at]!.kill('SIGKILL')
    await once(gateway.children[at]!, 'exit')
  }
  const verdict = async (name: string) => {
    // A client asks whichever enclave answers; a fixed one shows each of both.
    const asking: typeof globalThis.fetch = (url, init) =>
      globalThis.fetch(String(url).includes('challenge=') ? `${String(url)}&enclave=${name}` : url, init)
    const client = connect({
      ...{ baseUrl: gateway.base, apiKey: gateway.key, fetch: asking },
      policy: { testRoots, ...policy },
    })
    return client.verify().then(
      ({ release }) => `${release!.version} ${release!.state}`,
      (error: SealgateError) => error.reason,
    )
  }
  t.equal(await verdict('e0'), 'release_unknown', 'no list yet')

  await gateway.publish(list(1, [release('1.0', old, 'accepted', 0xaa), release('1.1', fresh, 'current', 0xbb)]))
  t.strictSame([await verdict('e0'), await verdict('e1')], ['1.0 accepted', '1.1 current'])
  t.match(await gateway.client(policy).chat.completions.create(question), { choices: [{}] })

  await gateway.publish(list(2, [release('1.1', fresh, 'current', 0xbb)]))
  t.strictSame([await verdict('e0'), await verdict('e1')], ['measurement_not_allowed', '1.1 current'], 'forward')

  await gateway.publish(list(1, [release('1.0', old, 'accepted', 0xaa), release('1.1', fresh, 'current', 0xbb)]))
  t.equal(await verdict('e1'), 'releases_rolled_back', 'a client with a memory takes no older list')

  await gateway.publish(list(3, [release('1.0', old, 'accepted', 0xaa), release('1.1', fresh, 'withdrawn', 0xbb)]))
  t.strictSame([await verdict('e0'), await verdict('e1')], ['1.0 accepted', 'release_withdrawn'], 'back')

  await gateway.publish(list(4, [release('1.0', fresh, 'current', 0xaa), release('1.1', old, 'current', 0xbb)]))
  t.strictSame([await verdict('e0'), await verdict('e1')], ['release_unknown', 'release_unknown'], 'pairs alone count')

  await gateway.publish(list(5, [release('1.0', old, 'accepted', 0xaa)]))
  await writeFile(gateway.releases, (await readFile(gateway.releases, 'utf8')).replace('accepted', 'current '))
  t.equal(await verdict('e0'), 'releases_unsigned')
  await stop(1)
})

const ran = (args: readonly string[], env: Readonly<Record<string, string>> = {}, lines: readonly string[] = []) =>
  new Promise<{ code: number; out: string }>((resolve) => {
    const options = { env: { PATH: process.env['PATH'], ...env } }
    const child = execFile(process.execPath, [program, ...args], options, (error, out, err) =>
      resolve({ code: (error?.code as number | undefined) ?? 0, out: out + err }),
    )
    child.stdin!.write(lines.map((line) => `${line}\n`).join(''))
    // A server of tools ends with its input, and answers before.
    if (lines.length === 0) child.stdin!.end()
    else child.stdout!.on('data', (bytes: Buffer) => bytes.includes(`"id":${lines.length}`) && child.stdin!.end())
  })

t.test('the commands refuse a test platform by name, and keep lists and memory', async (t) => {
  const gateway = await house(t, [0xab])
  await gateway.publish(list(7, [release('1.0', await gateway.digestOf('e0'), 'current', 0xab)]))
  const file = join(gateway.folder, 'policy.json')
  await writeFile(file, JSON.stringify({ releases: { keys: [gateway.signer.key], threshold: 1 } }))
  const kept = join(gateway.folder, 'kept.json')
  const verify = await ran(['verify', gateway.base, '--key', gateway.key, '--policy', file, '--save', kept])
  t.equal(verify.code, 1)
  t.match(verify.out, /✗ certificates\n.*root_unknown/s)
  t.match(JSON.parse(await readFile(kept, 'utf8')), {
    lists: { releases: { signatures: [{ key: gateway.signer.key }] } },
  })

  const reached = ['--base-url', gateway.base, '--key', gateway.key, '--policy', file]
  const started = ['--', process.execPath, '--eval', 'console.log("started")']
  const sealed = await ran(['seal', '--port', '0', ...reached, ...started])
  t.match(sealed, { code: 1, out: /root_unknown/ }, 'seal takes the same policy')
  t.notMatch(sealed.out, /started/, 'and no program starts behind it')
  const calls = [
    {
      method: 'initialize',
      id: 1,
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    },
    { method: 'tools/list', id: 2 },
  ].map((call) => JSON.stringify({ jsonrpc: '2.0', ...call }))
  const tools = await ran(['mcp', ...reached], {}, calls)
  t.match(tools.out, /"id":2,"error":.*root_unknown/s, 'mcp takes the same policy')

  const check = (...more: readonly string[]) => ran(['releases', 'check', gateway.releases, '--signers', ...more])
  const fine = await check(gateway.signer.key)
  t.equal(fine.code, 0, fine.out)
  t.match(fine.out, /✓ example, list 7, until .*\n✓ 1\.0 current, .*sev-snp; covers the whole image/)
  const other = releaseSigner()
  t.match(await check(other.key), { code: 1, out: /releases_unsigned/ })
  t.match(await check(`${gateway.signer.key},${other.key}`), { code: 1, out: /releases_unsigned/ })
  t.match(await check(`${gateway.signer.key},${other.key}`, '--threshold', '1'), { code: 0 })
  t.match(await check(gateway.signer.key, '--at', '2040-01-01T00:00:00Z'), { code: 1, out: /releases_expired/ })
  t.match(await check('aa'), { code: 1, out: /--signers is a list/ })

  const pem = join(gateway.folder, 'signer.pem')
  await writeFile(pem, other.secret.export({ type: 'pkcs8', format: 'pem' }))
  t.match(await ran(['releases', 'sign', gateway.releases, '--signer', pem]), { code: 0, out: new RegExp(other.key) })
  t.match(await check(`${gateway.signer.key},${other.key}`), { code: 0 }, 'both have signed')
})

t.test('a stranger makes the digest again, and lists are written, signed and served', async (t) => {
  const folder = await folderOf(t)
  const [config, listen, file] = ['enclave.json', 'e.sock', 'releases.json'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const written = {
    providers: { rehearsal: { use: 'rehearsal' } },
    models: { small: { confidential: true, upstreams: [{ provider: 'rehearsal', model: 'rehearsal' }] } },
    enclave: { listen, evidence: { use: prover, image: 0xab } },
  }
  await writeFile(config, JSON.stringify(written))
  const child = await enclosed({ SEALGATE_CONFIG: config })
  t.teardown(() => child.kill('SIGKILL'))
  const enclave = use(connectedEnclaves, { connect: [listen], testRoots })
  const gateway = await running(t, { ...memory(), enclave })
  const { keyset } = (await (await gateway.call('GET', '/rvenc/keys')).json()) as { keyset: string }
  const { code, out } = await ran(['releases', 'digest', config])
  t.same([code, out.trim()], [0, keyset.slice(2 * 23, 2 * 55)])

  const signer = releaseSigner()
  const pem = join(folder, 'signer.pem')
  await writeFile(pem, signer.secret.export({ type: 'pkcs8', format: 'pem' }))
  const next = async (version: string, ...more: readonly string[]) => {
    const entry = join(folder, `${version}.json`)
    await writeFile(entry, JSON.stringify(release(version, out.trim(), 'current', 0xab)))
    return ran(['releases', 'write', file, '--release', entry, ...more])
  }
  t.match(await next('1.0'), { code: 1, out: /--name is needed/ })
  t.match(await next('1.0', '--name', 'example'), { code: 0, out: /list 1 with 1 releases/ })
  t.match(await next('1.1'), { code: 0, out: /list 2 with 2 releases/ })
  t.match(await next('1.2', '--days', '91'), { code: 1, out: /up to 90/ })
  const check = () => ran(['releases', 'check', file, '--signers', signer.key])
  t.match(await check(), { code: 1, out: /releases_unsigned/ }, 'a new list is not signed yet')
  t.match(await ran(['releases', 'sign', file, '--signer', pem]), { code: 0 })
  t.match(await check(), { code: 0, out: /1\.1 current.*\n.*1\.0 accepted/ })
})

t.test('production stops on evidence that proves nothing, unless it is said to be meant', async (t) => {
  const folder = t.testdir()
  const config = join(folder, 'config.json')
  const start = async (enclave: object) => {
    await writeFile(config, JSON.stringify({ env: 'production', server: { port: 0 }, enclave }))
    return ran(['serve', '--surfaces', 'chat'], { SEALGATE_CONFIG: config, SEALGATE_DATA: join(folder, 'data') })
  }
  t.match(await start({}), { code: 1, out: /enclave\.evidence is dev, which proves nothing/ })
  t.match(await start({ evidence: { use: 'dev' } }), { code: 1, out: /enclave\.evidence is dev/ })
  const alone = { providers: { rehearsal: { use: 'rehearsal' } }, env: 'production' }
  const listen = join(await folderOf(t), 'a.sock')
  await t.rejects(enclosed({}, { ...alone, enclave: { listen } }), /which proves nothing/)
  const child = await enclosed({}, { ...alone, enclave: { listen, allowDev: true } })
  child.kill('SIGKILL')
})
