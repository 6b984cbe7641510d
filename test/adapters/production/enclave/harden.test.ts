import '../../../fakes/unwatched.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, mkdir, symlink, writeFile } from 'node:fs/promises'
import inspector from 'node:inspector'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { allowedVariables } from '../../../../adapters/production/enclave/enclave-child.ts'
import { hardenStart } from '../../../../adapters/production/enclave/harden.ts'
import { program } from '../../../fakes/served.ts'
import { folderOf } from '../../../helpers.ts'

interface Way {
  readonly env?: Readonly<Record<string, string>>
  /** Of Node, before the program. */
  readonly options?: readonly string[]
  readonly command?: readonly string[]
  readonly channel?: boolean
}

/** A standalone enclave whose configuration names two variables, started in whatever way a case says. */
const stage = async (t: Test) => {
  const folder = await folderOf(t)
  const file = join(folder, 'enclave.json')
  const providers = { house: { use: 'vllm', baseUrl: 'https://a.example/v1', apiKey: '$HOUSE_KEY' } }
  const tools = { webSearchTool: { provider: 'brave', apiKey: '$SEARCH_KEY' } }
  await writeFile(file, JSON.stringify({ providers, tools, enclave: { listen: join(folder, 'it.sock') } }))
  const named = { PATH: process.env['PATH']!, SEALGATE_CONFIG: file, HOUSE_KEY: 'hunter2', SEARCH_KEY: 'hunter3' }

  /** What it says on its way: on standard output when it listens, on standard error when it refuses. */
  const start = async ({ env = {}, options = [], command = [program, 'enclave'], channel = false }: Way) => {
    const child = spawn(process.execPath, [...options, ...command], {
      cwd: folder,
      env: { ...named, ...env },
      stdio: ['ignore', 'pipe', 'pipe', ...(channel ? (['ipc'] as const) : [])],
    })
    let output = ''
    child.stderr!.on('data', (part: Buffer) => (output += part))
    child.stdout!.on('data', (part: Buffer) => {
      output += part
      child.kill('SIGKILL')
    })
    const [status] = (await once(child, 'close')) as [number | null]
    return { status, said: output }
  }
  return { folder, file, named, start }
}

t.test('a start with listed parts succeeds', async (t) => {
  const { folder, start } = await stage(t)
  const shell = {
    HOME: folder,
    TZ: 'UTC',
    LANG: 'C',
    LC_ALL: 'C',
    TMPDIR: folder,
    PWD: '/',
    SHLVL: '1',
    _: '/usr/bin/node',
  }
  const link = join(folder, 'sealgate')
  await symlink(program, link)
  const cases: Readonly<Record<string, Way>> = {
    'nothing but what the configuration names': {},
    'a shell, by the name of the command': { env: shell, command: [link, 'enclave'] },
    'a bound on memory': { options: ['--max-old-space-size=2048'] },
  }
  for (const [name, way] of Object.entries(cases))
    t.same(await start(way), { status: null, said: 'sealgate enclave listening\n' }, name)
})

t.test('an unlisted part is refused by name, and no other code runs', async (t) => {
  const { folder, file, start } = await stage(t)
  const script = join(folder, 'other.cjs')
  await writeFile(
    script,
    `process.on('exit', () => require('fs').writeFileSync(${JSON.stringify(join(folder, 'ran'))}, ''))`,
  )
  const variables = [
    'NODE_OPTIONS NODE_PATH NODE_TLS_REJECT_UNAUTHORIZED NODE_EXTRA_CA_CERTS NODE_DEBUG NODE_V8_COVERAGE NODE_COMPILE_CACHE',
    'NODE_REDIRECT_WARNINGS NODE_ICU_DATA NODE_PENDING_DEPRECATION UV_THREADPOOL_SIZE OPENSSL_CONF OPENSSL_MODULES',
    'SSL_CERT_FILE SSL_CERT_DIR SSLKEYLOGFILE LD_LIBRARY_PATH LD_BIND_NOW GLIBC_TUNABLES MALLOC_ARENA_MAX GCONV_PATH LOCPATH',
    'RES_OPTIONS LOCALDOMAIN HOSTALIASES HTTP_PROXY HTTPS_PROXY https_proxy NO_PROXY npm_config_registry DEBUG ENCLAVE_PORT',
    'OTHER_KEY SEALGATE_KEY',
  ].flatMap((line) => line.split(' '))
  for (const name of variables) {
    const { status, said: text } = await start({ env: { [name]: name === 'NODE_OPTIONS' ? '--no-warnings' : '0' } })
    t.equal(status, 1, name)
    // Node warns of some of them itself.
    t.match(text, `sealgate: the enclave does not start with ${name} set; start it without`, `${name} is named`)
  }
  const many = await start({ env: { FIRST: 'hunter4', SECOND: '', '\u001b[2J': 'hunter4' } })
  t.match(many.said, 'FIRST, SECOND, a name that is no word set')
  t.notMatch(many.said, /hunter|\u001b/, 'a value is never told, and no name that a terminal would obey')

  const main = JSON.stringify(pathToFileURL(program).href)
  const options: readonly (readonly string[])[] = [
    ['-r', script],
    ['--require', script],
    [`--import=${pathToFileURL(script).href}`],
    [`--tls-keylog=${join(folder, 'keys')}`],
    ['--report-on-signal'],
    ['--report-on-fatalerror'],
    ['--prof'],
    ['--cpu-prof'],
    ['--use-openssl-ca'],
    ['--tls-min-v1.0'],
    ['--openssl-legacy-provider'],
    ['--heapsnapshot-signal=SIGUSR2'],
    ['--preserve-symlinks'],
    ['--inspect=127.0.0.1:0'],
    ['--env-file=/dev/null'],
  ]
  for (const option of options) {
    const name = option[0]!.split('=')[0]!
    const refused = await start({ options: option })
    t.equal(refused.status, 1, name)
    t.match(
      refused.said,
      `sealgate: the enclave does not start with ${name}; start Node without it`,
      `${name} is named`,
    )
  }
  const entries: Readonly<Record<string, Way>> = {
    'with -e': { options: ['-e', `import(${main})`], command: [program, 'enclave'] },
    'by a program that loads it': { command: [join(folder, 'loads.mjs'), 'enclave'] },
  }
  await writeFile(join(folder, 'loads.mjs'), `await import(${main})`)
  for (const [name, way] of Object.entries(entries))
    t.match(await start(way), { status: 1, said: /does not start/ }, name)
  t.match(await start({ command: [program, 'enclave', 'now'] }), { status: 1, said: 'the enclave takes no arguments' })
  t.match(await start({ channel: true }), { status: 1, said: 'with a channel to the process that starts it' })
  await t.resolves(access(join(folder, 'ran')), 'only a measured entry point keeps out what runs before it')
  await t.rejects(access(join(folder, 'keys')))

  const home = join(folder, 'home')
  await mkdir(join(home, '.node_modules'), { recursive: true })
  t.match(await start({ env: { HOME: home } }), { status: 1, said: /folder .node_modules in HOME; remove it/ })
  await writeFile(file, JSON.stringify({ enclave: { listen: '$NODE_DEBUG' } }))
  const named = await start({ env: { NODE_DEBUG: '/tmp/x' } })
  t.match(
    named,
    { status: 1, said: /NODE_DEBUG in its configuration/ },
    'the configuration lets in no variable of Node',
  )
})

t.test('doors that the process itself could open are shut', async (t) => {
  const { named } = await stage(t)
  const report: Record<string, unknown> = {
    reportOnSignal: true,
    reportOnFatalError: true,
    reportOnUncaughtException: true,
  }
  const signals: string[] = []
  const process = {
    env: named,
    argv: ['node', program, 'enclave'],
    execArgv: [],
    report,
    on: (signal: string) => void signals.push(signal),
  } as unknown as NodeJS.Process
  t.match(hardenStart(process), { arguments: ['enclave'], options: [], variables: ['HOUSE_KEY', 'SEARCH_KEY'] })
  t.same(Object.values(report), [false, false, false], 'no report of what is in its memory')
  t.same(signals, ['SIGUSR1'])
  inspector.open(0, '127.0.0.1')
  t.throws(() => hardenStart(process), /an inspector/, 'one that was open before')
  inspector.close()
  t.same(Object.keys(allowedVariables({ PATH: '', HOME: '', NODE_OPTIONS: '', SEALGATE_CONFIG: '', LC_ALL: '' })), [
    'PATH',
    'HOME',
  ])
})
