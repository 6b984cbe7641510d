import { execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { backends, opened, type Backend, type Doors } from './fakes/doors.ts'
import { sealedDoors } from './fakes/sealed-doors.ts'
import { scripted, type Script } from './fakes/scripted.ts'

const run = promisify(execFile)

/** The programs are large, so they are installed only where somebody asks for them. */
const asked = process.env['SEALGATE_PROGRAMS'] ?? ''

/** All of them, or the one that is named. */
const wanted = ({ name }: Program): boolean => asked === '1' || asked === name

interface Program {
  readonly name: string
  readonly package: string
  readonly command: string
  /** The models that it asks for. */
  readonly models: readonly string[]
  readonly reads: (file: string) => { readonly call: string; readonly args: object }
  readonly runs: (command: string) => { readonly call: string; readonly args: object }
  start(it: Doors, home: string, prompt: string): Promise<{ args: readonly string[]; env: Record<string, string> }>
  /** What it is given behind `sealgate seal --`; absent where that is not tried. */
  sealed?(prompt: string): { readonly args: readonly string[]; readonly env?: Record<string, string> }
}

const programs: readonly Program[] = [
  {
    name: 'Codex',
    package: '@openai/codex',
    command: 'codex',
    models: ['gpt-5.1'],
    reads: (file) => ({ call: 'exec_command', args: { cmd: `cat ${file}` } }),
    runs: (cmd) => ({ call: 'exec_command', args: { cmd } }),
    async start({ base, key }, _, prompt) {
      const own = `{name="gateway",base_url="${base}/v1",env_key="KEY",wire_api="responses",request_max_retries=0}`
      const named = ['-m', 'gpt-5.1', '-c', 'model_provider="gateway"', '-c', `model_providers.gateway=${own}`]
      const free = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox']
      return { args: ['exec', ...free, ...named, prompt], env: { KEY: key } }
    },
    sealed: (prompt) => ({
      args: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '-m', 'gpt-5.1', prompt],
    }),
  },
  {
    name: 'Claude Code',
    package: '@anthropic-ai/claude-code',
    command: 'claude',
    models: ['claude-opus-4-8'],
    reads: (file_path) => ({ call: 'Read', args: { file_path } }),
    runs: (command) => ({ call: 'Bash', args: { command, description: 'Runs it' } }),
    start: async ({ base, key }, _, prompt) => ({
      args: ['-p', '--model', 'claude-opus-4-8', '--permission-mode', 'bypassPermissions', prompt],
      env: {
        ANTHROPIC_BASE_URL: base,
        ANTHROPIC_API_KEY: key,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        IS_SANDBOX: '1',
      },
    }),
    sealed: (prompt) => ({
      args: ['-p', '--model', 'claude-opus-4-8', '--permission-mode', 'bypassPermissions', prompt],
      env: { IS_SANDBOX: '1' },
    }),
  },
  {
    name: 'Gemini CLI',
    package: '@google/gemini-cli',
    command: 'gemini',
    models: ['gemini-2.5-pro', 'gemini-2.5-flash'],
    reads: (file_path) => ({ call: 'read_file', args: { file_path } }),
    runs: (command) => ({ call: 'run_shell_command', args: { command, description: 'Runs it' } }),
    async start({ base, key }, home, prompt) {
      await mkdir(join(home, '.gemini'))
      const settings = {
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
      }
      await writeFile(join(home, '.gemini/settings.json'), JSON.stringify(settings))
      return {
        args: ['-m', 'gemini-2.5-pro', '--skip-trust', '--yolo', '-p', prompt],
        env: { GOOGLE_GEMINI_BASE_URL: base, GEMINI_API_KEY: key },
      }
    },
  },
  {
    name: 'Qwen Code',
    package: '@qwen-code/qwen-code',
    command: 'qwen',
    models: ['talk'],
    reads: (file_path) => ({ call: 'read_file', args: { file_path } }),
    runs: (command) => ({ call: 'run_shell_command', args: { command, description: 'Runs it', is_background: false } }),
    start: async ({ base, key }, _, prompt) => ({
      args: ['--auth-type', 'openai', '--yolo', '-p', prompt],
      env: { OPENAI_BASE_URL: `${base}/v1`, OPENAI_API_KEY: key, OPENAI_MODEL: 'talk' },
    }),
  },
  {
    name: 'opencode',
    package: 'opencode-ai',
    command: 'opencode',
    models: ['claude-opus-4-8', 'claude-haiku-4-5'],
    reads: (filePath) => ({ call: 'read', args: { filePath } }),
    runs: (command) => ({ call: 'bash', args: { command, description: 'Runs it' } }),
    async start({ base, key }, home, prompt) {
      const provider = { anthropic: { options: { baseURL: `${base}/v1`, apiKey: key } } }
      const own = { autoupdate: false, share: 'disabled', permission: { '*': 'allow' }, provider }
      await writeFile(join(home, 'opencode.json'), JSON.stringify(own))
      const env = { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' }
      return { args: ['run', '-m', 'anthropic/claude-opus-4-8', prompt], env }
    },
    sealed: (prompt) => ({
      args: ['run', '-m', 'sealgate/claude-opus-4-8', prompt],
      env: { OPENCODE_PERMISSION: '{"*":"allow"}' },
    }),
  },
]

const word = 'marmalade-in-a-note'
const command = 'echo it-ran | tr a-z A-Z'

/** Reads the file, runs the command, and says so; a program's side questions get a word. */
const script =
  ({ reads, runs }: Program, file: string): Script =>
  (turn, tools) => {
    const reading = reads(file)
    if (!tools.includes(reading.call)) return [{ say: 'A title' }]
    if (turn === 0) return [{ think: 'First the file.', signature: 'Zmlyc3Q=' }, { say: 'I read.' }, reading]
    return turn === 1
      ? [{ think: 'Now the command.', signature: 'c2Vjb25k' }, runs(command)]
      : [{ say: 'All is done.' }]
  }

const ended = (file: string, args: readonly string[], cwd: string, env: Record<string, string>): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (said += part))
    const late = setTimeout(() => child.kill('SIGKILL'), 90_000)
    child.once('error', reject)
    child.once('exit', () => {
      clearTimeout(late)
      resolve(said)
    })
  })

const main = resolve('dist/adapters/production/main.js')

/** The same through `sealgate seal`, with models that are in an enclave alone. */
const behindSeal = async (t: Test, program: Program, place: string, backend: Backend): Promise<void> => {
  const home = join(place, `sealed-${backend}`)
  await mkdir(home)
  const file = join(home, 'note.txt')
  await writeFile(file, `${word}\n`)
  const names = Object.fromEntries(program.models.map((name) => [name, backend]))
  const it = await sealedDoors(t, scripted(script(program, file)), names)
  const { args, env = {} } = program.sealed!('Read the note and run the command.')
  const own = { PATH: process.env['PATH']!, HOME: home, TERM: 'dumb', CI: '1', ...env }
  const seal = [main, 'seal', '--allow-insecure-dev', '--', join(place, 'node_modules/.bin', program.command), ...args]
  const said = await ended(process.execPath, seal, home, { ...own, SEALGATE_URL: it.base, SEALGATE_KEY: it.key })
  t.match(said, /All is done\./, `sealed before ${backend}: it ends`)
  const sent = it.backend.asked.map(({ body }) => body.toString())
  for (const told of [word, 'IT-RAN'])
    t.ok(
      sent.some((body) => body.includes(told)),
      `sealed before ${backend}: the model is told ${told}`,
    )
  const routes = new Set(it.logged.map(({ facts }) => String(facts['route'])).filter((route) => route !== 'undefined'))
  t.notOk(
    [...routes].some((route) => /\/(v1|v1beta|std)\//.test(route)),
    `nothing in the clear: ${[...routes].join()}`,
  )
  t.notMatch(JSON.stringify(it.logged), word)
}

t.setTimeout(600_000)

for (const program of programs) {
  t.test(
    `${program.name} reads a file and runs a command over three turns`,
    { skip: !wanted(program) && 'SEALGATE_PROGRAMS=1 installs and runs it' },
    async (t) => {
      const place = await mkdtemp(join(tmpdir(), 'sealgate-program-'))
      t.teardown(() => rm(place, { recursive: true, force: true }))
      await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', place, program.package], {
        maxBuffer: 1 << 26,
      })
      for (const backend of backends) {
        const home = join(place, backend)
        await mkdir(home)
        const file = join(home, 'note.txt')
        await writeFile(file, `${word}\n`)
        const it = await opened(
          t,
          scripted(script(program, file)),
          Object.fromEntries(program.models.map((name) => [name, backend])),
        )
        const { args, env } = await program.start(it, home, 'Read the note and run the command.')
        const own = { PATH: process.env['PATH']!, HOME: home, TERM: 'dumb', CI: '1', ...env }
        const said = await ended(join(place, 'node_modules/.bin', program.command), args, home, own)
        const sent = it.backend.asked.map(({ body }) => body.toString())
        t.match(said, /All is done\./, `before ${backend}: it ends`)
        t.ok(
          sent.some((body) => body.includes(word)),
          `before ${backend}: the model is told the file`,
        )
        t.ok(
          sent.some((body) => body.includes('IT-RAN')),
          `before ${backend}: and what the command said`,
        )
      }
      if (program.sealed !== undefined) for (const backend of backends) await behindSeal(t, program, place, backend)
    },
  )
}
