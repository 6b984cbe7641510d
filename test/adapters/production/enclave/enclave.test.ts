import '../../../fakes/unwatched.ts'
import { type ChildProcess, execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, writeFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { enclaveWithin } from '../../../../adapters/memory/enclave.ts'
import { tools } from '../../../../adapters/memory/tools.ts'
import metadataStore from '../../../../adapters/memory/metadata-store.ts'
import { memory } from '../../../../adapters/memory/index.ts'
import { clock, fetch, log } from '../../../../adapters/memory/platform.ts'
import { type Certificates, certificatesIn } from '../../../../adapters/production/enclave/certificates.ts'
import { connectedEnclaves, startedEnclave } from '../../../../adapters/production/enclave/enclave.ts'
import { enclavePool } from '../../../../adapters/production/enclave/enclave-pool.ts'
import { ehbp } from '../../../../plugins/sealed/client/ehbp.ts'
import { connect } from '../../../../plugins/sealed/client/client.ts'
import { Unavailable } from '../../../../core/errors.ts'
import { use } from '../../../../core/plugin.ts'
import { Enclave, type SealedReply } from '../../../../core/ports/enclave.ts'
import { Log } from '../../../../core/ports/platform.ts'
import { conform } from '../../../contracts/contract.ts'
import { enclave } from '../../../contracts/enclave.ts'
import { running } from '../../../environments.ts'
import { fakeClock } from '../../../fakes/clock.ts'
import { newKey, openssl, withoutOpenssl } from '../../../fakes/openssl.ts'
import { enclosed, program } from '../../../fakes/served.ts'
import { fitted, made } from '../../../fitted.ts'
import { folderOf } from '../../../helpers.ts'
import { unproved } from '../../../fakes/proof-observer.ts'

const providers = { rehearsal: { use: 'rehearsal' } }

const opened = (t: Test, fitting: ReturnType<typeof use<Enclave, any, any>>): Enclave => {
  const container = fitted(fitting, use(clock), use(log), use(fetch), use(metadataStore), use(unproved))
  t.teardown(() => container.dispose())
  return container.supply({ enclave: Enclave }).enclave
}

/** A confidential process that listens where the test says. */
const inside = async (
  t: Test,
  settings: object,
  env: Record<string, string> = {},
  args: readonly string[] = [],
): Promise<ChildProcess> => {
  const child = await enclosed(env, { providers, enclave: settings }, args)
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

t.test('in this process', (t) =>
  conform(t, enclave.contract, (t) => opened(t, enclaveWithin()({ upstreams: [], tools }))),
)

t.test('in a process of its own', async (t) => {
  const pool = opened(t, use(startedEnclave, { config: { providers } }))
  await conform(t, enclave.contract, () => pool)
})

t.test('a long chat by the EHBP protocol comes to the process in parts', async (t) => {
  const { base, key } = await running(t, { ...memory(), enclave: use(startedEnclave, { config: { providers } }) })
  const client = ehbp({ baseUrl: `${base}/ehbp/v1`, apiKey: key, policy: { allowInsecureDev: true } })
  const chat = { model: 'rehearsal', messages: [{ role: 'user' as const, content: 'Hi '.repeat(200_000) }] }
  t.match(await client.chat.completions.create(chat), { model: 'rehearsal', choices: [{ finish_reason: 'stop' }] })
})

t.test('killed: new keys, and clients recover by themselves', async (t) => {
  const pool = await running(t, { ...memory(), enclave: use(startedEnclave, { config: { providers } }) })
  const client = connect({ baseUrl: pool.base, apiKey: pool.key, policy: { allowInsecureDev: true } })
  const say = () => client.chat.completions.create({ model: 'rehearsal', messages: [{ role: 'user', content: 'Hi' }] })
  t.ok((await say()).choices[0], 'before')
  const before = (await (await pool.call('GET', '/rvenc/keys')).json()) as { keyset: string }
  const children = execFileSync('pgrep', ['-P', String(process.pid), '-f', 'main.js enclave'])
    .toString()
    .trim()
    .split('\n')
    .map(Number)
  for (const pid of children) process.kill(pid, 'SIGKILL')
  const seen = new Set<number>()
  for (let tries = 0; tries < 100; tries++) {
    const answer = await say().catch((error: { status: number }) => error.status)
    if (typeof answer !== 'number') break
    seen.add(answer)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  t.same([...seen], [503], 'meanwhile 503 and nothing else')
  t.ok((await say()).choices[0], 'the same client, without being told')
  const after = (await (await pool.call('GET', '/rvenc/keys')).json()) as { keyset: string }
  t.not(after.keyset, before.keyset, 'the old keys died with the process')
})

t.test('several: each request goes to the enclave that holds its key', async (t) => {
  const folder = await folderOf(t)
  const sockets = ['a', 'b'].map((name) => join(folder, `${name}.sock`))
  const children = [await inside(t, { listen: sockets[0] }), await inside(t, { listen: sockets[1] })]
  const pool = opened(t, use(connectedEnclaves, { connect: sockets }))
  const [one, other] = [await pool.keys('e0'), await pool.keys('e1')]
  t.not(one.keyset, other.keyset, 'keys of their own')
  await conform(t, enclave.contract, () => ({
    ...pool,
    keys: () => pool.keys('e0'),
    attest: (challenge) => pool.attest(challenge, 'e0'),
  }))
  await conform(t, enclave.contract, () => ({
    ...pool,
    keys: () => pool.keys('e1'),
    attest: (challenge) => pool.attest(challenge, 'e1'),
  }))
  await t.rejects(pool.keys('e7'), { name: 'NotFound' })
  children[0]!.kill('SIGKILL')
  await once(children[0]!, 'exit')
  await t.resolves(pool.keys('e1'), 'the other one goes on')
  t.same((await pool.keys()).keyset, (await pool.keys('e1')).keyset)
})

const never = new AbortController().signal
const grant = { request: 'r', organization: 'o', user: 'u', key: 'k', models: null }

/** Two lines to enclaves, each of which may be silent or gone, behind one port and a clock that is moved. */
const pair = (heard: Log = made(Log, use(log))) => {
  const clock = fakeClock()
  const [silent, gone, leaves] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const line = (name: string, not_before: number): Enclave => {
    const says = <T>(answer: T) =>
      new Promise<T>((resolve, reject) => {
        if (gone.has(name)) reject(new Unavailable(undefined, { cause: name }))
        else if (!silent.has(name)) resolve(answer)
      })
    const key = { enclaveKid: name, kem: 'x-wing', public_key: '', not_before, not_after: 0 }
    const keys = () => says({ keyset: name, keys: [key], evidence: { type: 'dev' } })
    const trailer = { model: name, backend: null, usage: null, audioSeconds: null }
    return {
      keys,
      attest: keys,
      models: () => says([]),
      async handle(route, _, __, signal) {
        if (leaves.has(name)) throw new Unavailable(undefined, { cause: { code: 'Leaving' } })
        if (route === 'frames') {
          const frames = (async function* () {
            yield 'one'
            await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
          })()
          return { kind: 'frames', frames, trailer: Promise.resolve(trailer) }
        }
        const ended = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        return Promise.race([ended, says({ kind: 'body' as const, status: 200, body: {}, failure: null, trailer })])
      },
    }
  }
  const pool = enclavePool([line('old', 1), line('new', 2)], clock, heard)
  const ask = (enclaveKid: string, route = 'body') => pool.handle(route, { enclaveKid }, grant, never)
  return { pool, ask, clock, silent, gone, leaves }
}

t.test('an enclave that leaves between requests does not count as up', async (t) => {
  const { pool, ask, clock, gone } = pair()
  const nameOf = (reply: SealedReply) => (reply.kind === 'body' ? reply.trailer.model : reply.kind)
  t.equal(nameOf(await ask('new')), 'new')
  gone.add('new')
  await clock.pass(6_000)
  t.equal(nameOf(await ask('new')), 'old', 'which says that it can’t open this, so that it is sealed anew')
  gone.delete('new')
  gone.add('old')
  await clock.pass(200)
  t.equal((await pool.keys()).keyset, 'new', 'and one that has come back while nobody asked is found')
  await pool.dispose?.()
})

t.test(
  'a call that a leaving enclave has not begun goes to another one, which says that the key is over',
  async (t) => {
    const { pool, ask, leaves } = pair()
    await pool.keys()
    leaves.add('new')
    t.match(await ask('new'), { trailer: { model: 'old' } })
    leaves.add('old')
    await t.rejects(ask('new'), { name: 'Unavailable' })
    await pool.dispose?.()
  },
)

t.test('the log names an enclave that was never up, with the reason', async (t) => {
  const told: string[] = []
  const note = (event: string, facts: object = {}, cause?: unknown) =>
    void told.push([event, ...Object.values(facts), (cause as Error | undefined)?.cause].filter(Boolean).join(' '))
  const { pool, clock, gone } = pair({ info: note, warn: note, error: note })
  gone.add('old').add('new')
  const waiting = t.rejects(pool.keys(), { name: 'Unavailable', cause: { cause: 'old' } }, 'the cause goes along')
  await clock.pass(29_000)
  t.same(told, [], 'it may be on its way up')
  await clock.pass(1_300)
  await waiting
  await clock.pass(200)
  await t.rejects(pool.keys(), { name: 'Unavailable' })
  t.same(told.sort(), ['enclave.down e0 old', 'enclave.down e1 new'], 'each once')
  gone.clear()
  await clock.pass(200)
  t.equal((await pool.keys()).keyset, 'new')
  t.same(told.slice(2).sort(), ['enclave.up e0', 'enclave.up e1'])
  await pool.dispose?.()
})

t.test('silent: its waiting calls fail, and no other call waits', async (t) => {
  const { pool, ask, clock, silent } = pair()
  const told = (work: Promise<unknown>) => {
    const waiting = { state: 'waits' }
    work.then(
      () => (waiting.state = 'served'),
      (fault: Error) => (waiting.state = fault.name),
    )
    return waiting
  }
  t.equal((await pool.keys()).keyset, 'new', 'the newest')
  const stream = (await ask('new', 'frames')) as Extract<SealedReply, { kind: 'frames' }>
  const frames = stream.frames[Symbol.asyncIterator]()
  await frames.next()
  silent.add('new')
  const waiting = [ask('new'), pool.keys(), pool.attest(new Uint8Array(32)), frames.next()].map(told)
  await clock.pass(7_900)
  t.equal((await ask('old')).kind, 'body', 'the other one goes on, and nobody looks first')
  t.same(waiting.map(({ state }) => state), ['waits', 'waits', 'waits', 'waits']) // prettier-ignore
  await clock.pass(200)
  t.same(
    waiting.map(({ state }) => state),
    ['Unavailable', 'served', 'served', 'Unavailable'],
    'within eight seconds; keys are those of another',
  )
  const late = told(ask('new'))
  await clock.pass(100)
  t.equal(late.state, 'served', 'by the one that is there, which says whether it can open it')
  silent.add('old')
  const both = [ask('old'), ask('new')].map(told)
  await clock.pass(8_100)
  t.same(both.map(({ state }) => state), ['Unavailable', 'Unavailable']) // prettier-ignore
  const quick = told(ask('old'))
  await clock.pass(100)
  t.equal(quick.state, 'Unavailable', 'and once it is known, at once')
  await pool.dispose?.()
})

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))

t.test('over TCP both sides prove themselves', { skip: withoutOpenssl }, async (t) => {
  const folder = await folderOf(t)
  const authority = (name: string) =>
    openssl(folder, `req -x509 ${newKey} -days 2 -subj /CN=${name} -keyout ${name}.key -out ${name}.pem`)
  const leaf = async (name: string, ca: string, names = 'IP:127.0.0.1,IP:::1') => {
    openssl(folder, `req ${newKey} -subj /CN=${name} -keyout ${name}.key -out ${name}.csr`)
    await writeFile(join(folder, `${name}.ext`), `subjectAltName=${names}`)
    const signer = `-CA ${ca}.pem -CAkey ${ca}.key -CAcreateserial`
    openssl(folder, `x509 -req -in ${name}.csr ${signer} -days 2 -extfile ${name}.ext -out ${name}.pem`)
  }
  for (const ca of ['ours', 'theirs']) authority(ca)
  await leaf('inside', 'ours')
  await leaf('gateway', 'ours')
  await leaf('stranger', 'theirs')
  await leaf('foreign', 'theirs')
  await leaf('elsewhere', 'ours', 'IP:127.0.0.1,IP:::2')
  const file = (name: string) => join(folder, name)
  const port = 20_000 + (process.pid % 20_000)
  const own = { ca: file('ours.pem'), cert: file('inside.pem'), key: file('inside.key') }
  await inside(t, { listen: `127.0.0.1:${port}`, tls: own })
  const proofs = new Map<string, Promise<Certificates>>()
  const proofOf = (name: string, ca: string) => {
    const own = { ca: file(`${ca}.pem`), cert: file(`${name}.pem`), key: file(`${name}.key`) }
    if (!proofs.has(name + ca)) proofs.set(name + ca, certificatesIn(own))
    return proofs.get(name + ca)!
  }
  const line = async (name: string, ca: string, host = '127.0.0.1', at = port) =>
    opened(
      t,
      use(connectedEnclaves, {
        connect: [`${host}:${at}`],
        tls: await proofOf(name, ca),
      }),
    )
  const pool = await line('gateway', 'ours')
  await conform(t, enclave.contract, () => pool)
  const refused = async (enclave: Enclave) => {
    const asked = enclave.attest(new Uint8Array(32), 'e0')
    await t.rejects(asked, { name: 'Unavailable' })
  }
  await refused(await line('stranger', 'ours'))
  await refused(await line('gateway', 'theirs'))
  await t.test('renewed files hold for new connections, without a new start', async (t) => {
    const files = { ca: file('own-ca.pem'), cert: file('own.pem'), key: file('own.key') }
    const lay = (cert: string, key: string, ca: string) =>
      Promise.all([
        copyFile(file(`${ca}.pem`), files.ca),
        copyFile(file(`${cert}.pem`), files.cert),
        copyFile(file(`${key}.key`), files.key),
      ])
    await lay('inside', 'inside', 'ours')
    const at = port + 2
    const first = await inside(t, { listen: `127.0.0.1:${at}`, tls: files })
    const client = opened(t, use(connectedEnclaves, { connect: [`127.0.0.1:${at}`], tls: await certificatesIn(files) }))
    const answers = (enclave: Enclave) => enclave.attest(new Uint8Array(32), 'e0').then(() => true, () => false) // prettier-ignore
    t.ok(await answers(client))
    await lay('inside', 'stranger', 'ours')
    await sleep(6_000)
    t.ok(
      await answers(await line('gateway', 'ours', '127.0.0.1', at)),
      'a key of another certificate waits for its own',
    )
    await lay('stranger', 'stranger', 'theirs')
    for (let tries = 0; tries < 30 && !(await answers(await line('foreign', 'theirs', '127.0.0.1', at))); tries++)
      await sleep(500)
    t.ok(await answers(await line('foreign', 'theirs', '127.0.0.1', at)), 'the enclave has the new ones')
    await refused(await line('gateway', 'ours', '127.0.0.1', at))
    t.ok(await answers(client), 'a standing connection goes on')
    first.kill('SIGKILL')
    await once(first, 'exit')
    await inside(t, { listen: `127.0.0.1:${at}`, tls: files })
    for (let tries = 0; tries < 30 && !(await answers(client)); tries++) await sleep(500)
    t.ok(await answers(client), 'the next connection of a gateway has the new ones')
  })
  if (!hasIpv6) return
  await inside(t, { listen: `[::1]:${port}`, tls: own })
  const { keys } = await (await line('gateway', 'ours', '[::1]')).keys()
  t.ok(keys.length > 0, 'an address of IPv6 stands in brackets')
  const other = { ca: file('ours.pem'), cert: file('elsewhere.pem'), key: file('elsewhere.key') }
  await inside(t, { listen: `[::1]:${port + 1}`, tls: other })
  await refused(await line('gateway', 'ours', '[::1]', port + 1))
})

t.test('does not start without a configuration', async (t) => {
  const said = (input: string) =>
    spawnSync(process.execPath, [program, 'enclave'], { input, env: { PATH: process.env['PATH'] }, encoding: 'utf8' })
  for (const input of ['', '{"providers"'])
    t.match(said(input), { status: 1, stderr: 'sealgate: SEALGATE_CONFIG is not set\n' })
  t.match(said("{'key': 'hunter2'}\n"), { status: 1, stderr: 'sealgate: the configuration is not JSON\n' }, 'unquoted')
})

t.test('does not start where the runtime was opened up', async (t) => {
  const folder = await folderOf(t)
  const settings = { listen: join(folder, 'it.sock') }
  for (const env of [
    { NODE_OPTIONS: '--no-warnings' },
    { NODE_DEBUG: 'http' },
    { NODE_EXTRA_CA_CERTS: '/dev/null' },
    { LD_LIBRARY_PATH: '/tmp' },
  ] as Record<string, string>[]) {
    await t.rejects(inside(t, settings, env), { message: /does not start with/ }, Object.keys(env).join())
  }
  await t.rejects(inside(t, { listen: join(folder, 'x'.repeat(104)) }), {
    message: /listen expected .* 103 bytes at most/,
  })
  await t.rejects(inside(t, { listen: join(folder, 'nowhere/it.sock') }), { message: /nowhere/ })
  await t.rejects(inside(t, settings, {}, ['--inspect=127.0.0.1:0']), { message: /does not start with --inspect/ })
  const child = await inside(t, settings)
  await t.rejects(inside(t, settings), { message: /taken by another process/ })
  child.kill('SIGUSR1')
  await new Promise((resolve) => setTimeout(resolve, 300))
  t.equal(child.exitCode, null, 'a signal opens no inspector')
  const ended = once(child, 'exit')
  child.stdin!.end()
  await ended
  t.pass('it ends with the one who started it')
})
