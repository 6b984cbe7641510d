import './fakes/unwatched.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { running, type Running } from './environments.ts'
import { until } from './until.ts'
import { succeeds } from './helpers.ts'

/** A program that tells how it was started and what the proxy says to it, and ends with 7. */
const script = `#!${process.execPath}
const { readFileSync, writeFileSync } = process.getBuiltinModule('node:fs')
const { env, argv } = process
const url = env.ANTHROPIC_BASE_URL ?? env.OPENAI_BASE_URL?.replace('/v1', '') ?? env.GOOGLE_GEMINI_BASE_URL
const token = env.ANTHROPIC_AUTH_TOKEN ?? env.ANTHROPIC_API_KEY ?? env.OPENAI_API_KEY
const body = JSON.stringify({ model: 'rehearsal', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] })
const ask = async (headers) => url && (await fetch(url + '/v1/messages', { method: 'POST', headers, body })).status
const all = async () => [await ask({ 'x-api-key': token }), await ask({ authorization: 'Bearer ' + token }), await ask({}), await ask({ 'x-api-key': 'other' }), await ask({ 'x-api-key': token, authorization: 'Bearer other' })]
const file = env.QWEN_CODE_SYSTEM_SETTINGS_PATH ?? argv[argv.indexOf('--config') + 1]
const settings = file?.endsWith('settings.json') ? readFileSync(file, 'utf8') : null
all().then((statuses) => {
  writeFileSync(env.REPORT, JSON.stringify({ env, argv: argv.slice(2), statuses, url, file, settings }))
  if (argv.includes('waits')) return setInterval(() => {}, 1000)
  process.exit(7)
})
`

const main = resolve('dist/adapters/production/main.js')

const scene = async (t: Test) => {
  const gateway = await running(t, memory())
  const place = t.testdir({ home: {}, work: {}, bin: {} })
  for (const name of ['claude', 'codex', 'opencode', 'gemini', 'qwen', 'cn', 'own']) {
    await writeFile(join(place, 'bin', name), script)
    await chmod(join(place, 'bin', name), 0o755)
  }
  return { gateway, place }
}

const environment = (gateway: Running, place: string) => ({
  PATH: `${join(place, 'bin')}:${process.env['PATH']}`,
  HOME: join(place, 'home'),
  REPORT: join(place, 'report.json'),
  SEALGATE_URL: gateway.base,
  SEALGATE_KEY: gateway.key,
  SEALGATE_KEYS: '/nowhere/keys.json',
  OPENAI_API_KEY: 'sk-vendor',
  ANTHROPIC_API_KEY: 'sk-ant-vendor',
  CLAUDE_CODE_USE_BEDROCK: '1',
  AWS_BEARER_TOKEN_BEDROCK: 'vendor',
  SOME_API_KEY: 'another',
  COPY: `Bearer ${gateway.key}`,
  KEPT: 'kept',
})

const start = (place: string, env: Record<string, string>, args: readonly string[]) => {
  const child = spawn(process.execPath, [main, 'seal', '--allow-insecure-dev', ...args], {
    cwd: join(place, 'work'),
    env,
  })
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  for (const from of [child.stdout, child.stderr]) from.on('data', (part) => (output += part))
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, said: output }))
  return { child, ended }
}

const reported = async (place: string) => JSON.parse(await readFile(join(place, 'report.json'), 'utf8'))

t.test('a program is started with the proxy, a key of this run and no other key, and ends it', async (t) => {
  const { gateway, place } = await scene(t)
  const { code, said: text } = await start(place, environment(gateway, place), ['--', 'claude', '-p', '--help']).ended
  t.equal(code, 7, 'the command ends as the program does')
  t.match(text, /switched off in claude: telemetry/)
  t.match(text, /not sealed: .*MCP servers/)
  const { env, argv, statuses, url } = await reported(place)
  t.same(argv, ['-p', '--help'])
  t.same(statuses, [200, 200, 401, 401, 401], 'its own key alone is served')
  t.match(env, { KEPT: 'kept', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', ANTHROPIC_AUTH_TOKEN: /^[\w-]{43}$/, NO_PROXY: /127\.0\.0\.1/ }) // prettier-ignore
  for (const name of [
    'SEALGATE_KEY',
    'SEALGATE_URL',
    'SEALGATE_KEYS',
    'OPENAI_API_KEY',
    'ANTHROPIC_API_KEY',
    'CLAUDE_CODE_USE_BEDROCK',
    'AWS_BEARER_TOKEN_BEDROCK',
    'SOME_API_KEY',
    'COPY',
  ])
    // prettier-ignore
    t.notOk(name in env, name)
  t.notMatch(JSON.stringify(env), new RegExp(gateway.key), 'no variable tells the key of the gateway')
  await t.rejects(fetch(url), 'the proxy is gone with the program')
  const chats = gateway.logged.filter(({ facts }) => facts['route'] === 'POST /rvenc/chat/completions')
  t.equal(chats.length, 2)
  const before = env.ANTHROPIC_AUTH_TOKEN
  await start(place, environment(gateway, place), ['--', 'claude']).ended
  t.not((await reported(place)).env.ANTHROPIC_AUTH_TOKEN, before, 'each run has a key of its own')
})

t.test('a signal is passed on', async (t) => {
  const { gateway, place } = await scene(t)
  const { child, ended } = start(place, environment(gateway, place), ['--', 'own', 'waits'])
  const isThere = () => succeeds(reported(place))
  t.ok(await until(isThere, 20_000))
  child.kill('SIGTERM')
  t.equal((await ended).code, 128 + 15)
  t.same(
    (await reported(place)).statuses,
    [200, 200, 401, 401, 401],
    'a program that nobody knows gets the usual variables',
  )
  t.equal((await reported(place)).env.GOOGLE_GENAI_API_VERSION, 'v1beta')
})

t.test('each program is told in its own way', async (t) => {
  const { gateway, place } = await scene(t)
  await start(place, environment(gateway, place), ['--', 'codex', 'exec', 'x']).ended
  const codex = await reported(place)
  t.match(codex.argv.join(' '), /^-c model_provider="sealgate" -c model_providers\.sealgate=\{.*base_url="http:\/\/127.*wire_api="responses"\}.* exec x$/) // prettier-ignore
  t.match(codex.env, { SEALGATE_SEAL_TOKEN: /^[\w-]{43}$/ })
  await start(place, environment(gateway, place), ['--', 'opencode']).ended
  const config = JSON.parse((await reported(place)).env.OPENCODE_CONFIG_CONTENT)
  t.match(config, { enabled_providers: ['sealgate'], share: 'disabled', autoupdate: false })
  t.same(Object.keys(config.provider.sealgate.models), ['rehearsal', 'rehearsal-transcription'])
})

t.test('a program that takes a file of settings gets one for its run', async (t) => {
  const { gateway, place } = await scene(t)
  const machine = join(place, 'machine.json')
  await writeFile(machine, '{"tools":{"sandbox":true},"privacy":{"a":1,"usageStatisticsEnabled":true}}')
  const env = { ...environment(gateway, place), QWEN_CODE_SYSTEM_SETTINGS_PATH: machine }
  await start(place, env, ['--', 'qwen', '-p', 'x']).ended
  const qwen = await reported(place)
  t.same(qwen.argv, ['--auth-type', 'openai', '-p', 'x'])
  t.same(JSON.parse(qwen.settings), {
    tools: { sandbox: true },
    privacy: { a: 1, usageStatisticsEnabled: false },
    telemetry: { enabled: false },
  })
  await start(place, env, ['--', 'cn', '-p', 'x']).ended
  const cn = await reported(place)
  t.same(cn.argv, ['--config', cn.file, '-p', 'x'])
  t.match(JSON.parse(cn.settings).models, [{ model: 'rehearsal', provider: 'openai', apiBase: /^http:\/\/127.*\/v1$/ }])
  t.notMatch(cn.settings, cn.env.SEALGATE_SEAL_TOKEN, 'the file names no key')
  for (const { file } of [qwen, cn])
    await t.rejects(readFile(file), { code: 'ENOENT' }, 'the file is gone with the run')
})

t.test('settings of a program that lead past the proxy stop the command', async (t) => {
  const { gateway, place } = await scene(t)
  const env = environment(gateway, place)
  const write = async (path: string, settings: object | null) => {
    const file = join(place, path)
    await mkdir(join(file, '..'), { recursive: true })
    await writeFile(file, JSON.stringify(settings))
  }
  for (const [path, settings, program, named] of [
    ['home/.claude/settings.json', { env: { ANTHROPIC_BASE_URL: 'https://x' } }, 'claude', 'ANTHROPIC_BASE_URL'],
    ['work/.claude/settings.local.json', { env: { CLAUDE_CODE_USE_VERTEX: '1' } }, 'claude', 'CLAUDE_CODE_USE_VERTEX'],
    ['work/.claude/settings.json', { apiKeyHelper: 'x' }, 'claude', 'apiKeyHelper'],
    [
      'home/.gemini/settings.json',
      { security: { auth: { selectedType: 'oauth-personal' } } },
      'gemini',
      'selectedType',
    ],
    ['work/.qwen/settings.json', { security: { auth: { baseUrl: 'https://x' } } }, 'qwen', 'baseUrl'],
  ] as const) {
    await write(path, settings)
    const { code, said: text } = await start(place, env, ['--', program]).ended
    t.equal(code, 1, path)
    t.match(text, new RegExp(`${program} would not use the proxy: .*${named}`))
    await write(path, {})
  }
  for (const args of [
    ['codex', '--oss'],
    ['codex', '-c', 'model_provider="x"'],
    ['codex', '--config=profile=x'],
    ['cn', '--config', 'own.yaml'],
    ['claude', '--settings', '{"env":{"ANTHROPIC_BASE_URL":"x"}}'],
  ]) {
    // prettier-ignore
    const { code, said: text } = await start(place, env, ['--', ...args]).ended
    t.equal(code, 1, args.join(' '))
    t.match(text, /would not use the proxy/)
  }
  await t.rejects(readFile(join(place, 'report.json')), 'none of them was started')
  const lost = await start(place, { ...env, SEALGATE_URL: 'http://127.0.0.1:1' }, ['--', 'claude']).ended
  t.equal(lost.code, 1, 'nor is one before the enclave is verified')
  t.equal((await start(place, env, ['--', 'no-such-program']).ended).code, 1)
  const unsigned = await start(place, env, ['--', 'gemini']).ended
  t.match([unsigned.code, unsigned.said], [1, /gemini needs .*selectedType/], 'Gemini CLI takes no key by itself')
  await write('home/.gemini/settings.json', { security: { auth: { selectedType: 'gemini-api-key' } } })
  t.equal((await start(place, env, ['--', 'gemini']).ended).code, 7)
  t.equal((await start(place, env, ['--']).ended).code, 1)
})
