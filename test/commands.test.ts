import './fakes/unwatched.ts'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { backup, fromRecoveryCode, recoveryCode, restore } from '../core/client/backup.ts'
import { newKek, newRagDek } from '../core/client/client.ts'
import { killed } from './fakes/killed.ts'
import { program, served } from './fakes/served.ts'

const run = promisify(execFile)

t.test('a client keeps its files and keys from the command line', async (t) => {
  const folder = t.testdir()
  const server = await served({ SEALGATE_DATA: join(folder, 'data') })
  t.teardown(() => server.stop('SIGTERM'))
  const keys = join(folder, 'keys.json')
  const env = {
    PATH: process.env['PATH'],
    SEALGATE_URL: server.base,
    SEALGATE_KEY: /(sk_live_\w+)/.exec(server.said)![1],
    SEALGATE_KEYS: keys,
    SEALGATE_PASSPHRASE: 'correct horse battery',
  }
  const sealgate = async (...args: readonly string[]) =>
    (await run(process.execPath, [program, ...args], { env, cwd: folder })).stdout.trim()
  const fails = (...args: readonly string[]) =>
    sealgate(...args).then(
      () => 'it did not fail',
      (error: { stderr: string }) => error.stderr,
    )

  t.match(await fails('files', 'ls'), /sealgate kek new makes one/)
  await sealgate('kek', 'new')
  t.equal((await stat(keys)).mode & 0o777, 0o600, 'for its owner alone')
  t.match(await fails('kek', 'new'), /is there already/, 'never over another')

  const large = randomBytes(2_500_000)
  await writeFile(join(folder, 'large.bin'), large)
  await writeFile(join(folder, 'note.txt'), 'A note about herons.')
  const put = await sealgate('files', 'put', 'large.bin', 'note.txt', '--type', 'document')
  const [id, note] = put.split('\n').map((line) => line.split('\t')[0]!)
  t.match(id, /^file_/)
  t.match(await sealgate('files', 'put', 'large.bin'), /already there/)
  t.match(await sealgate('files', 'ls'), /large\.bin/)
  t.match(await sealgate('files', 'ls', '--search', 'note.txt'), new RegExp(`^${note}\\t[^\\n]*note\\.txt$`))
  await sealgate('files', 'get', id!, '--out', 'back.bin')
  t.ok((await readFile(join(folder, 'back.bin'))).equals(large), 'every byte')
  t.match(await fails('files', 'get', note!), /EEXIST/, 'a name from afar is never written over')

  await sealgate('kek', 'backup', '--out', 'backup.json')
  const code = await sealgate('kek', 'backup', '--code')
  await rm(keys)
  await sealgate('kek', 'restore', '--from', 'backup.json')
  t.match(await sealgate('files', 'ls'), /large\.bin/, 'the backup opens them')
  await rm(keys)
  await sealgate('kek', 'restore', '--code', code)
  t.match(await sealgate('files', 'ls'), /large\.bin/, 'and so does the paper')

  t.match(await sealgate('kek', 'rotate'), /^2 files/)
  t.notOk((await readFile(keys, 'utf8')).includes('next'), 'the old key is gone')
  await sealgate('files', 'get', id!, '--out', 'again.bin')
  t.ok((await readFile(join(folder, 'again.bin'))).equals(large), 'under the new key')
  await sealgate('files', 'rm', id!, note!)
  t.equal(await sealgate('files', 'ls'), '')
  t.match(await fails('files', 'get', id!), /refused/)
  t.match(await fails('files', 'eat'), /sealgate files put/)
})

t.test('backups and recovery codes', async (t) => {
  const kek = newKek()
  const ring = { kek, wrappedRagDek: newRagDek(kek) }
  const text = await backup(ring, 'pässword one')
  t.notMatch(text, kek)
  t.same(await restore(text, 'pässword one'), ring)
  await t.rejects(restore(text, 'password one'), { name: 'SealgateError', fault: 'wrong_passphrase' })
  for (const broken of ['', '{}', text.replace(/"m":\d+/, '"m":99999999'), text.replace('sealgate', 'other')])
    await t.rejects(restore(broken, 'x'), { name: 'SealgateError', fault: 'no_backup' })
  const code = recoveryCode(kek)
  t.match(code, /^([0-9A-HJKMNP-TV-Z]{5}-){10}[0-9A-HJKMNP-TV-Z]{5}$/)
  t.equal(fromRecoveryCode(code.toLowerCase().replaceAll('-', ' ').replace(/0/g, 'o').replace(/1/g, 'l')), kek)
  const wrong = code.replace(/^./, (letter) => (letter === 'A' ? 'B' : 'A'))
  for (const bad of [wrong, code.slice(1), '', `${code}0`])
    t.throws(() => fromRecoveryCode(bad), { name: 'SealgateError', fault: 'wrong_code' })
})

t.test('a server that is killed again and again loses nothing that it acknowledged', async (t) => {
  const outcome = await killed(6, t.testdir())
  t.match(outcome, { kills: 6, lost: 0, broken: 0, left: 0 })
  t.ok(outcome.acknowledged >= 6, `${outcome.acknowledged} uploads were acknowledged`)
})
