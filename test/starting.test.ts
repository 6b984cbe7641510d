import './fakes/unwatched.ts'
import { spawn } from 'node:child_process'
import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'libsql'
import t from 'tap'
import { makeFolder } from '../plugins/storage/shared/fsync.ts'
import { jsonTake } from './fakes/at-work.ts'
import { freePort } from './fakes/listening.ts'
import { recorded } from './fakes/recorded.ts'
import { startRedis } from './fakes/redis.ts'
import { aloneIn, heard, program, served } from './fakes/served.ts'
import { until } from './until.ts'

/** The status of an answer; null while nobody listens. */
const ask = (port: number, path: string, key = ''): Promise<number | null> =>
  new Promise((resolve) => {
    const headers = { ...(key && { authorization: `Bearer ${key}` }), connection: 'close' }
    request({ host: '127.0.0.1', port, path, headers }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode!))
    })
      .once('error', () => resolve(null))
      .end()
  })

/** The first answer that anybody gets from a port that opens. */
const firstAnswer = async (port: number, path: string, key: string): Promise<number> => {
  for (;;) {
    const status = await ask(port, path, key)
    if (status !== null) return status
    await sleep(5)
  }
}

const key = `sk_live_${'3'.repeat(44)}`
const laterKey = `sk_live_${'6'.repeat(44)}`
t.test('a provider that refuses its key is told at the start, and the gateway serves', async (t) => {
  const backend = await recorded(() => jsonTake({ error: { message: 'Incorrect API key sk-wrong' } }, 401))
  t.teardown(() => backend.close())
  const folder = t.testdir()
  const file = join(folder, 'gateway.json')
  const providers = { one: { use: 'openai', baseUrl: `${backend.url}/v1`, apiKey: 'sk-wrong' } }
  const enclave = { connect: ['/nowhere'] }
  await writeFile(file, JSON.stringify({ providers, enclave, server: { host: '127.0.0.1' } }))
  const server = await served({ SEALGATE_CONFIG: file, SEALGATE_DATA: join(folder, 'data'), SEALGATE_KEY: key })
  t.ok(await until(() => /one: 401, the key was refused/.test(server.said)), server.said)
  t.notMatch(server.said, /sk-wrong/)
  t.equal((await fetch(`${server.base}/health/live`)).status, 200)
  t.equal(await server.stop('SIGINT'), 0)
})

const noProc = process.platform === 'linux' ? false : 'there is no /proc'
const redis = await startRedis()
t.teardown(() => redis?.close())

t.test('the configured key opens from the first answer on', async (t) => {
  const alone = aloneIn(t.testdir())
  const port = await freePort()
  await (await served({ ...alone, SEALGATE_KEY: `sk_live_${'4'.repeat(44)}` })).stop('SIGKILL')
  // Nothing can be written for a while, neither the key nor what the audit says of it.
  const busy = new Database(join(alone.SEALGATE_DATA, 'sealgate.db'))
  busy.exec('begin immediate')
  const starting = served({ ...alone, SEALGATE_KEY: key, HOST: '127.0.0.1', PORT: `${port}` })
  const answer = firstAnswer(port, '/admin/keys', key)
  t.equal(await Promise.race([answer, sleep(3_000, 'no answer')]), 'no answer', 'the port is not open before')
  busy.exec('rollback')
  busy.close()
  t.equal(await answer, 200)
  t.equal(await (await starting).stop('SIGINT'), 0)
})

t.test('the same of several workers', { skip: redis === null && 'no redis-server here' }, async (t) => {
  const file = join(t.testdir(), 'config.json')
  await writeFile(file, JSON.stringify({ limits: { redis: redis!.url }, enclave: { connect: ['/nowhere'] } }))
  const port = await freePort()
  const data = { SEALGATE_CONFIG: file, SEALGATE_DATA: join(t.testdirName, 'data'), SEALGATE_KEY: key }
  const starting = served({ ...data, HOST: '127.0.0.1', PORT: `${port}` }, program, ['serve', '--workers', '2'])
  t.equal(await firstAnswer(port, '/admin/keys', key), 200)
  const server = await starting
  t.equal(await ask(port, '/admin/keys', key), 200)
  t.equal(await server.stop('SIGINT'), 0)
})

/** Whether a process handles SIGHUP, of which it would end otherwise. */
const takesHangUps = async (pid: number): Promise<boolean> => {
  const caught = /^SigCgt:\s*(\w+)$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0'
  return (BigInt(`0x${caught}`) & 1n) === 1n
}

t.test('a SIGHUP during the start is answered by a reload', { skip: noProc }, async (t) => {
  const alone = aloneIn(t.testdir())
  await (await served({ ...alone, SEALGATE_KEY: key })).stop('SIGKILL')
  const busy = new Database(join(alone.SEALGATE_DATA, 'sealgate.db'))
  busy.exec('begin immediate')
  const env = { PATH: process.env['PATH'], PORT: '0', SEALGATE_LOG: 'silent', ...alone, SEALGATE_KEY: laterKey }
  const child = spawn(process.execPath, [program], { env })
  t.teardown(() => child.kill('SIGKILL'))
  const { listening } = heard(child)
  await until(() => takesHangUps(child.pid!))
  child.kill('SIGHUP')
  await sleep(300)
  busy.exec('rollback')
  busy.close()
  const headers = { authorization: `Bearer ${laterKey}` }
  const audit = `${await listening}/admin/audit`
  const isReloaded = async () =>
    /"action":"reload"[^}]*"outcome":"done"/.test(await (await fetch(audit, { headers })).text())
  t.ok(await until(isReloaded), await (await fetch(audit, { headers })).text())
})

t.test('readiness waits until a made key is known', async (t) => {
  const port = await freePort()
  const alone = aloneIn(t.testdir())
  const starting = served({ ...alone, HOST: '127.0.0.1', PORT: `${port}` })
  const statuses = new Set<number>()
  for (let status: number | null = null; status !== 200; await sleep(5)) {
    status = await ask(port, '/health/ready')
    if (status !== null) statuses.add(status)
  }
  const db = new Database(join(alone.SEALGATE_DATA, 'sealgate.db'))
  const { keys } = db.prepare("select count(*) as keys from rows where kind = 'key'").get([]) as { keys: number }
  db.close()
  t.equal(keys, 1, 'the key is there as soon as it is ready')
  t.ok([...statuses].every((status) => status === 200 || status === 503))
  const server = await starting
  t.match(server.said, /made a key; it stands in /)
  t.equal(await server.stop('SIGINT'), 0)
})

t.test('a place that takes no folders ends the start with a sentence', { timeout: 20_000, skip: noProc }, async (t) => {
  await t.rejects(served({ SEALGATE_DATA: '/proc/x' }), {
    message: 'sealgate: SEALGATE_DATA: the folder cannot be made (ENOENT)\n',
  })
  const file = join(t.testdir(), 'config.json')
  await writeFile(file, JSON.stringify({ storage: { blobs: { use: 'fs', folder: '/proc/x/y' } } }))
  await t.rejects(served({ SEALGATE_DATA: join(t.testdirName, 'data'), SEALGATE_CONFIG: file }), {
    message: /fs: the folder cannot be made \(ENOENT\)/,
  })
})

t.test('folders are made as far as they are missing, for their owner alone', async (t) => {
  const folder = t.testdir({ open: {}, file: 'x' })
  await chmod(join(folder, 'open'), 0o755)
  makeFolder(join(folder, 'open/a/b'))
  makeFolder(join(folder, 'open/a/b'))
  const modes = await Promise.all(
    ['open', 'open/a', 'open/a/b'].map(async (text) => (await stat(join(folder, text))).mode),
  )
  t.same(modes.map((mode) => mode & 0o777), [0o755, 0o700, 0o700]) // prettier-ignore
  await symlink(join(folder, 'nowhere'), join(folder, 'dangling'))
  for (const bad of ['file/a', 'dangling/a'])
    t.throws(() => makeFolder(join(folder, bad)), /ENOTDIR|ENOENT|EEXIST/, bad)
})

t.test('the rows of the embedded store are for their owner alone', async (t) => {
  const alone = aloneIn(t.testdir())
  const data = alone.SEALGATE_DATA
  const modes = () =>
    Promise.all(
      ['', '-wal', '-shm'].map(async (text) =>
        ((await stat(join(data, `sealgate.db${text}`))).mode & 0o777).toString(8),
      ),
    )
  // Made by an older release, in a folder that was there.
  await mkdir(data, { mode: 0o755 })
  const old = new Database(join(data, 'sealgate.db'))
  old.pragma('journal_mode = wal')
  old.exec('create table other (a)')
  for (const ending of ['', '-wal', '-shm']) await chmod(join(data, `sealgate.db${ending}`), 0o644)
  t.same(await modes(), ['644', '644', '644'])
  const first = await served({ ...alone, SEALGATE_KEY: key })
  t.same(await modes(), ['600', '600', '600'], 'those that were there are tightened')
  old.close()
  t.equal(await first.stop('SIGINT'), 0)
  t.ok((await readFile(join(data, 'sealgate.db'))).length > 0)

  const fresh = await served({ ...alone, SEALGATE_DATA: join(data, 'fresh/deep'), SEALGATE_KEY: key })
  const db = join(data, 'fresh/deep/sealgate.db')
  for (const ending of ['', '-wal', '-shm']) t.equal((await stat(db + ending)).mode & 0o777, 0o600, `a new ${ending}`)
  t.equal(await fresh.stop('SIGINT'), 0)
})
