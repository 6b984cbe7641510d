import './fakes/unwatched.ts'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import t from 'tap'
import { errorText } from '../adapters/local/error-text.ts'
import { newPassphrase, passphrase } from '../adapters/local/passphrase.ts'
import { helpOverview, commandUsages } from '../adapters/production/commands/help.ts'
import { backup, fromRecoveryCode, recoveryCode, restore } from '../plugins/sealed/client/backup.ts'
import { newKek, newRagDek } from '../plugins/sealed/client/client.ts'
import { SealgateError } from '../plugins/sealed/client/error.ts'
import { Overdue, Unavailable } from '../core/errors.ts'
import { commandRunner, ownProcess } from './fakes/command-runner.ts'
import { killed } from './fakes/killed.ts'
import { program, served } from './fakes/served.ts'
import { until } from './until.ts'
import { isWhole } from './whole.ts'
import { succeeds } from './helpers.ts'

const command = commandRunner(t)

t.test('a client keeps its files and keys from the command line', async (t) => {
  const folder = t.testdir()
  const server = await served({ SEALGATE_DATA: join(folder, 'data') })
  t.teardown(() => server.stop('SIGTERM'))
  const keys = join(folder, 'keys.json')
  const env = {
    SEALGATE_URL: server.base,
    SEALGATE_KEY: server.key,
    SEALGATE_KEYS: keys,
    SEALGATE_PASSPHRASE: 'correct horse battery',
  }
  const sealgate = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await command(args, env, folder)
    if (code !== 0) throw new Error(stderr)
    return stdout.trim()
  }
  const fails = (...args: readonly string[]) =>
    sealgate(...args).then(
      () => 'it did not fail',
      ({ message }: Error) => message,
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
  t.match(await fails('files', 'put', 'note.txt', '--index'), /proves nothing; --allow-insecure-dev uses it/)
  t.match(await sealgate('files', 'put', 'note.txt', '--index', '--allow-insecure-dev'), /already there/)
  const indexed = async () => (await sealgate('files', 'ls', '--search', 'note.txt')).includes('\tcompleted\t')
  t.ok(await until(indexed), 'though it was there')
  t.match(await sealgate('files', 'ls'), /large\.bin/)
  t.match(await sealgate('files', 'ls', '--search', 'note.txt'), new RegExp(`^${note}\\t[^\\n]*note\\.txt$`))
  await writeFile(join(folder, 'back.bin.part'), 'mine')
  await sealgate('files', 'get', id!, '--out', 'back.bin')
  t.equal(await readFile(join(folder, 'back.bin.part'), 'utf8'), 'mine', 'nothing else is touched')
  t.ok((await readFile(join(folder, 'back.bin'))).equals(large), 'every byte')
  t.match(await fails('files', 'get', note!), /EEXIST/, 'a name from afar is never written over')

  await sealgate('kek', 'backup', '--out', 'backup.json')
  const code = await sealgate('kek', 'backup', '--code')
  await rm(keys)
  await sealgate('kek', 'restore', '--from', 'backup.json')
  t.match(await sealgate('files', 'ls'), /large\.bin/, 'the backup opens them')
  await rm(keys)
  t.match(await fails('kek', 'restore', '--from', 'large.bin'), /no backup of keys/)
  t.match(await fails('kek', 'restore', '--code', code.slice(1)), /recovery code is mistyped/)
  t.equal(await sealgate('kek', 'restore', '--code', code), `${keys}: what was indexed has to be indexed anew`)
  t.match(await sealgate('files', 'ls'), /large\.bin/, 'and so does the paper')

  t.match(await sealgate('kek', 'rotate'), /^2 files/)
  t.notOk((await readFile(keys, 'utf8')).includes('next'), 'the old key is gone')
  await sealgate('files', 'get', id!, '--out', 'again.bin')
  t.ok((await readFile(join(folder, 'again.bin'))).equals(large), 'under the new key')
  t.equal((await stat(`${keys}.memory`)).mode & 0o777, 0o600, 'what the client remembers is for its owner alone')
  t.notMatch(await readFile(`${keys}.memory`, 'utf8'), id!, 'and sealed')
  await sealgate('files', 'rm', id!)
  t.match(await sealgate('kek', 'rotate'), /^1 file is under/)
  await sealgate('files', 'rm', note!)
  t.equal(await sealgate('files', 'ls'), '')
  t.equal(await fails('files', 'get', id!), 'sealgate: There is no such file\n')
  t.equal(await fails('files', 'rm', id!), `sealgate: There is no such file: ${id}\n`)
  t.match(await fails('files', 'eat'), /sealgate files put/)
  await writeFile(keys, JSON.stringify({ ...JSON.parse(await readFile(keys, 'utf8')), next: '07'.repeat(32) }))
  for (const where of [['--code'], ['--out', 'half.json']])
    t.match(await fails('kek', 'backup', ...where), /waits for the end of a rotation/, 'a backup holds one key')
  t.match(await sealgate('kek', 'rotate'), /^0 files/)
  await sealgate('kek', 'backup', '--code')
  env.SEALGATE_PASSPHRASE = 'correct cow battery'
  t.match(await fails('kek', 'restore', '--from', 'backup.json'), /passphrase is another one/)
  env.SEALGATE_PASSPHRASE = 'short'
  t.match(await fails('kek', 'backup', '--out', 'other.json'), /eight characters at least/)
  await t.rejects(stat(join(folder, 'other.json')), { code: 'ENOENT' })
  env.SEALGATE_KEY = 'sk_live_no'
  t.match(await fails('files', 'ls'), /lacks permission \(status 401\)/)
})

t.test('the help says where pages are that the package has not', async (t) => {
  const { files } = JSON.parse(await readFile('package.json', 'utf8')) as { files: readonly string[] }
  const absent = /^!docs\/\{(.*)\}/.exec(files.find((path) => path.startsWith('!docs/{')) ?? '')?.[1]?.split(',') ?? []
  const named = Object.values(commandUsages).flatMap((usage) => [
    ...usage.matchAll(/docs\/([\w-]+)\.md( of the repository)?/g),
  ])
  t.ok(named.length > 3)
  for (const [text, page, where] of named) t.equal(where !== undefined, absent.includes(page!), text)
})

t.test('every command says what it takes, and what is missing', async (t) => {
  const env = { SEALGATE_DATA: join(t.testdir(), 'data'), SEALGATE_KEYS: join(t.testdirName, 'keys') }
  const said = (...args: readonly string[]) => command(args, env)
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string }
  t.same(await ownProcess(['--version'], env), { code: 0, stdout: `${version}\n`, stderr: '' })
  t.same(await said('-h'), { code: 0, stdout: `${helpOverview}\n`, stderr: '' })
  t.same(await said('--workers', '2', '--help'), { code: 0, stdout: `${commandUsages.serve}\n`, stderr: '' })
  for (const [name, usage] of Object.entries(commandUsages)) {
    t.match(helpOverview, new RegExp(`sealgate \\[?${name}\\b`))
    const asked = await said(name, name === 'kek' ? 'backup' : '-h', '-h')
    t.same(asked, { code: 0, stdout: `${usage}\n`, stderr: '' }, name)
  }
  await said('kek', 'new')
  const cases: [string[], RegExp][] = [
    [['tea'], /there is no command tea/],
    [['toString'], /there is no command toString/],
    [['keys', 'revoke'], /keys revoke needs the id/],
    [['keys', 'create', '--addresses', 'foo'], /Validation failed: .*address/i],
    [['keys', 'create', '--models', ''], /a list has no empty part/],
    [['keys', 'create', '--models', 'a,'], /a list has no empty part/],
    [['keys', 'create', '--user', '..'], /organisations, users and teams are letters/],
    [['keys', 'create', '--team', 'a/b'], /organisations, users and teams are letters/],
    [['keys', 'create', '--organization', '__proto__'], /organisations, users and teams are letters/],
    [['keys', 'create', '--organization', 'constructor'], /organisations, users and teams are letters/],
    [['keys', 'create', '--team', 'nosuch'], /there is no team nosuch; teams of default in the configuration: none/],
    [['keys', 'create', '--cost-per-month', 'much'], /--cost-per-month takes an amount above 0, none or default/],
    [['keys', 'create', '--cost-per-month', '1e999'], /--cost-per-month takes an amount above 0, none or default/],
    [['keys', 'create', '--cost-per-day', 'Infinity'], /--cost-per-day takes an amount above 0, none or default/],
    [['keys', 'create', '--days', '0'], /--days takes a number above 0, or never/],
    [['keys', 'create', '--days', '1e999'], /--days takes a number above 0, or never/],
    [['keys', 'create', '--tokens-per-day', '1.5'], /--tokens-per-day takes a whole number from 1, none or default/],
    [['kek', 'backup'], /kek backup needs --out FILE or --code/],
    [['kek', 'restore'], /kek restore needs either/],
    [['files', 'rm'], /files rm needs the id/],
    [['files', 'put'], /files put needs a file/],
    [['sweep', '--grace', ''], /--grace is a whole number of milliseconds/],
    [['sweep', '--grace', '1.5'], /--grace is a whole number of milliseconds/],
    [['files', 'ls'], /--base-url or SEALGATE_URL is needed/],
  ]
  for (const [args, stderr] of cases) t.match(await said(...args), { code: 1, stdout: '', stderr }, args.join(' '))
})

t.test('a key gets limits and budgets from the command line', async (t) => {
  const env = { SEALGATE_DATA: join(t.testdir(), 'data') }
  const limitsAfter = async (...args: readonly string[]) => {
    const { stdout, stderr } = await command(['keys', ...args, '--json'], env)
    t.equal(stderr, '')
    return JSON.parse(stdout) as { readonly id: string; readonly limits: object }
  }
  const made = await limitsAfter('create', '--cost-per-month', '5.5', '--requests-per-second', 'none')
  t.strictSame(made.limits, { requestsPerSecond: null, costPerMonth: 5.5 })
  const changed = await limitsAfter('update', made.id, '--requests-per-second', 'default', '--tokens-per-day', '100')
  t.strictSame(changed.limits, { costPerMonth: 5.5, tokensPerDay: 100 }, 'the others stay')
  t.match(await command(['keys', 'show', made.id], env), { stdout: /limits +costPerMonth 5.5, tokensPerDay 100\n/ })
})

const isFull = await succeeds(stat('/dev/full'))

t.test('the name of a key begins no line and moves no cursor of the terminal', async (t) => {
  const env = { SEALGATE_DATA: join(t.testdir(), 'data') }
  const name = 'a\nkey_x\tdefault\u001b[2K'
  const made = await command(['keys', 'create', '--name', name, '--json'], env)
  const { id } = JSON.parse(made.stdout)
  const [list, shown, exact] = [
    await command(['keys', 'list'], env),
    await command(['keys', 'show', id], env),
    await command(['keys', 'list', '--json'], env),
  ]
  t.notMatch(list.stdout + shown.stdout, /\u001b/)
  t.equal(list.stdout.split('\n').filter((line) => line.includes('key_x')).length, 1)
  t.match(list.stdout, `${id}\t`)
  t.ok(
    JSON.parse(exact.stdout).some((row: { readonly name: string }) => row.name === name),
    'JSON is exact',
  )
})

t.test('a sweep beside the row store of no gateway removes nothing', async (t) => {
  const data = join(t.testdir(), 'data')
  const folder = join(data, 'blobs', 'encrypted', 'acme', 'ada')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, '01890000-0000-7000-8000-000000000000.enc'), 'sealed')
  const sweep = () => command(['sweep', '--grace', '0'], { SEALGATE_DATA: data })
  t.match(await sweep(), {
    code: 1,
    stdout: '',
    stderr: /Nothing [^]*removed: [^]*storage\.metadata and SEALGATE_DATA/,
  })
  t.equal((await readdir(folder)).length, 1)
})

t.test('a command whose output is lost says so and fails', { skip: !isFull && 'no /dev/full here' }, async (t) => {
  const { status, stderr } = spawnSync(
    'sh',
    ['-c', '"$0" "$1" keys list --json > /dev/full', process.execPath, program],
    {
      env: { PATH: process.env['PATH'], SEALGATE_DATA: join(t.testdir(), 'data') },
      encoding: 'utf8',
    },
  )
  t.equal(stderr, "sealgate: standard output can't be written: ENOSPC\n")
  t.equal(status, 1)
})

t.test('a reader that leaves ends a command in silence', async (t) => {
  for (const command of [['keys', 'list'], ['usage'], ['help']]) {
    const { stderr } = spawnSync(
      'sh',
      ['-c', '{ "$0" "$@"; echo "ended with $?" >&2; } | true', process.execPath, program, ...command],
      { env: { PATH: process.env['PATH'], SEALGATE_DATA: join(t.testdir(), 'data') }, encoding: 'utf8' },
    )
    t.equal(stderr, 'ended with 0\n', command.join(' '))
  }
})

t.test('a refusal is told with its status, and with the code of the enclave', async (t) => {
  const told = errorText(new SealgateError('failed', { status: 404, code: 'unknown_model' }))
  t.equal(told, 'The request failed inside the enclave (status 404, unknown_model)')
  t.equal(errorText(new SealgateError('unreachable')), 'The gateway could not be reached')
})

t.test('a store that is out of reach is told with the code and the place', async (t) => {
  const refused = Object.assign(new Error('Canary7319'), { code: 'ECONNREFUSED', address: '10.0.0.7', port: 5432 })
  const both = Object.assign(new AggregateError([refused, refused]), { code: 'ECONNREFUSED' })
  const told = (cause: unknown) => errorText(new Unavailable(undefined, { cause }))
  t.equal(told(new Error('Canary7319', { cause: both })), `${new Unavailable().message} (ECONNREFUSED 10.0.0.7:5432)`)
  class DatabaseError extends Error {
    readonly code = '28P01'
  }
  t.equal(told(new DatabaseError('Canary7319')), `${new Unavailable().message} (DatabaseError 28P01)`)
  t.equal(told(null), new Unavailable().message)
  t.match(errorText(new Overdue({ cause: new Error('Canary7319') })), /too long: .*--from.*--organization/)
})

t.test('a passphrase for a new backup is typed twice', async (t) => {
  const typing = (text: string) => Object.assign(new PassThrough(), { isTTY: true }).end(text)
  t.equal(await newPassphrase({}, typing('long enough\rlong enough\r')), 'long enough')
  await t.rejects(newPassphrase({}, typing('long enough\rlong enouhg\r')), { message: 'the two passphrases differ' })
  await t.rejects(newPassphrase({}, typing('long enough\r')), { message: 'no passphrase was typed' })
  await t.rejects(newPassphrase({}, typing('short\rshort\r')), { message: /eight characters/ })
  t.equal(await passphrase({}, typing('short\r')), 'short', 'an old one is what it is')
  await t.rejects(passphrase({}, new PassThrough()), { message: /SEALGATE_PASSPHRASE is needed/ })
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
  const kills = isWhole ? 20 : 3
  const outcome = await killed(kills, t.testdir())
  t.match(outcome, { kills, lost: 0, broken: 0, left: 0 })
  t.ok(outcome.acknowledged >= kills, `${outcome.acknowledged} uploads were acknowledged`)
})
