import './fakes/unwatched.ts'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { recorded } from './fakes/recorded.ts'
import { program, served } from './fakes/served.ts'
import { until } from './until.ts'

const hasScript = spawnSync('script', ['--version']).status === 0

t.test('a terminal has the first screen', { skip: !hasScript && 'there is no script(1)' }, async (t) => {
  const refusing = await recorded(() => ({ status: 401, body: '{"error":"Canary7319"}' }))
  t.teardown(() => refusing.close())
  const folder = t.testdir()
  const file = join(folder, 'sealgate.json')
  const openai = { use: 'openai', apiKey: 'wrong', baseUrl: refusing.url }
  await writeFile(file, JSON.stringify({ providers: { rehearsal: { use: 'rehearsal' }, openai } }))
  const env = { PATH: process.env['PATH'], PORT: '0', SEALGATE_DATA: join(folder, 'data'), SEALGATE_CONFIG: file }
  const child = spawn('script', ['-qefc', `exec ${process.execPath} ${program}`, '/dev/null'], { env, detached: true })
  t.teardown(() => {
    if (child.exitCode === null) process.kill(-child.pid!, 'SIGKILL')
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part))
  t.ok(await until(() => /\n {2}\S*try\b/.test(output.replace(/\u001b\[\d+m/g, '')), 20_000), 'to its end')
  const text = output.replace(/\u001b\[\d+m/g, '').replaceAll('\r', '')
  const url = /serves (http:\/\/127\.0\.0\.1:\d+)\n/.exec(text)![1]!
  const key = /export SEALGATE_KEY=(sk_live_\w{44})\n/.exec(text)![1]!
  const link = /\n {2}console {8}(http:\/\/127\.0\.0\.1:\d+)\/console#link=([\w-]{43})\n/.exec(text)!
  t.equal(link[1], url, 'a link to the console')
  const redeem = () => fetch(`${url}/console/session`, { method: 'POST', body: JSON.stringify({ link: link[2] }) })
  const opened = await redeem()
  t.equal(opened.status, 201)
  const { data } = (await opened.json()) as { data: { credential: string } }
  const self = await fetch(`${url}/admin/self`, { headers: { authorization: `Bearer ${data.credential}` } })
  t.match(await self.json(), { data: { operator: true } }, 'the session can do what the first key can')
  t.equal((await redeem()).status, 401, 'once')
  t.match(text, /✓ rehearsal: \d+ models/)
  t.match(text, /✗ openai: 401, the key was refused\n/)
  t.match(text, `configuration  ${file}\n`)
  t.match(output, '\u001b[31m✗\u001b[39m openai', 'in colours')
  // On a busy machine the enclave starts later than the screen waits for it.
  t.match(text, /enclave {8}(development: it proves nothing|✗ )/)
  t.notMatch(text, /Canary7319|listening on/)

  const lines = text.slice(0, text.indexOf('Hello')).replaceAll(folder, '').split('\n')
  t.same(
    lines.filter(({ length }) => length > 130),
    [],
    'each line fits a wide terminal',
  )

  // The call as it stands there, by the shell.
  const curl = /try {12}(curl [^]*?'\n)/.exec(text)![1]!
  const ran = spawnSync('sh', ['-c', `${curl.trim()} -sS`], { env: { ...env, SEALGATE_KEY: key }, encoding: 'utf8' })
  if (ran.status === 127) t.comment('there is no curl')
  else t.match(JSON.parse(ran.stdout), { object: 'chat.completion' })
  await fetch(`${url}/health/live`)
  t.ok(
    await until(() => /\d\d:\d\d:\d\d GET \/health\/live 200 in \d+ ms/.test(output.replace(/\u001b\[\d+m/g, ''))),
    'in words',
  )
  child.stdin.write('\u0003')
  await once(child, 'exit')
})

t.test('without one there are lines', async (t) => {
  const server = await served({ SEALGATE_DATA: join(t.testdir(), 'data') }, program, ['--port', '0'])
  t.teardown(() => server.child.kill('SIGKILL'))
  t.ok(await until(() => /^sealgate enclave /m.test(server.said), 20_000))
  t.match(server.said, /^sealgate backend ✓ rehearsal: \d+ models/m)
  t.match(server.said, /^sealgate enclave (development: it proves nothing|✗ )/m)
  t.notMatch(server.said, /sk_live|#link=|\u001b/)
  t.equal(await server.stop('SIGTERM'), 0)
})

t.test('what people mistype is understood', (t) => {
  const said = (...args: readonly string[]) => spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' })
  t.match(said('verfy').stderr, /there is no command verfy; did you mean verify\?/)
  t.match(said('keyz').stderr, /did you mean keys\?/)
  t.notMatch(said('tea').stderr, /did you mean/)
  for (const port of ['abc', '65536'])
    t.match(said('--port', port).stderr, /^sealgate: --port takes a number from 0 to/)
  t.equal(said('usage', '--bye').stderr, 'sealgate: there is no option --bye; --help behind the command names them\n')
  t.match(said('-v').stdout, /^\d+\.\d+\.\d+\n$/)
  t.end()
})
