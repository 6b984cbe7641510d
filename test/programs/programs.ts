import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Where a program finds the gateway. */
export interface Gateway {
  readonly base: string
  readonly key: string
}

export interface Start {
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

type Use = { readonly call: string; readonly args: object }

export interface Program {
  readonly name: string
  readonly package: string
  readonly command: string
  /** The major version of Node that its newest release asks for; absent where ours does. */
  readonly node?: number
  /** Whether it sums up a conversation that a backend refuses as too long. */
  readonly compacts?: true
  /** Whether it tries again until an outage of seconds is over. */
  readonly patient?: true
  /** The models that it asks for. */
  readonly models: readonly string[]
  readonly reads: (file: string) => Use
  readonly runs: (command: string) => Use
  start(gateway: Gateway, home: string, prompt: string): Promise<Start>
  /** What it is given behind `sealgate seal --`. */
  sealed(home: string, prompt: string): Promise<Start>
}

/** Its current models orchestrate tools by a script, which is one free text. */
const orchestrated = (cmd: string): Use => ({
  call: 'exec',
  args: { input: `text((await tools.exec_command({ cmd: ${JSON.stringify(cmd)} })).output)` },
})

const codex: Program = {
  name: 'Codex',
  package: '@openai/codex',
  command: 'codex',
  patient: true,
  models: ['gpt-5.6-luna'],
  reads: (file) => orchestrated(`cat ${file}`),
  runs: orchestrated,
  async start({ base, key }, _, prompt) {
    const own = `{name="gateway",base_url="${base}/v1",env_key="KEY",wire_api="responses",supports_websockets=true}`
    const named = ['-m', 'gpt-5.6-luna', '-c', 'model_provider="gateway"', '-c', `model_providers.gateway=${own}`]
    return { args: ['exec', ...free, ...named, prompt], env: { KEY: key } }
  },
  sealed: async (_, prompt) => ({ args: ['exec', ...free, '-m', 'gpt-5.6-luna', prompt] }),
}

const free = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox']

const claude: Program = {
  name: 'Claude Code',
  package: '@anthropic-ai/claude-code',
  command: 'claude',
  patient: true,
  compacts: true,
  node: 22,
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
  sealed: async (_, prompt) => ({
    args: ['-p', '--model', 'claude-opus-4-8', '--permission-mode', 'bypassPermissions', prompt],
    env: { IS_SANDBOX: '1' },
  }),
}

const gemini: Program = {
  name: 'Gemini CLI',
  package: '@google/gemini-cli',
  command: 'gemini',
  models: ['gemini-2.5-pro', 'gemini-2.5-flash'],
  reads: (file_path) => ({ call: 'read_file', args: { file_path } }),
  runs: (command) => ({ call: 'run_shell_command', args: { command, description: 'Runs it' } }),
  start: async ({ base, key }, home, prompt) => ({
    ...(await gemini.sealed(home, prompt)),
    env: { GOOGLE_GEMINI_BASE_URL: base, GEMINI_API_KEY: key },
  }),
  async sealed(home, prompt) {
    await mkdir(join(home, '.gemini'))
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
    }
    await writeFile(join(home, '.gemini/settings.json'), JSON.stringify(settings))
    return { args: ['-m', 'gemini-2.5-pro', '--skip-trust', '--yolo', '-p', prompt] }
  },
}

const qwen: Program = {
  name: 'Qwen Code',
  package: '@qwen-code/qwen-code',
  command: 'qwen',
  node: 22,
  models: ['talk'],
  reads: (file_path) => ({ call: 'read_file', args: { file_path } }),
  runs: (command) => ({ call: 'run_shell_command', args: { command, description: 'Runs it', is_background: false } }),
  start: async ({ base, key }, _, prompt) => ({
    args: ['--auth-type', 'openai', '--yolo', '-p', prompt],
    env: { OPENAI_BASE_URL: `${base}/v1`, OPENAI_API_KEY: key, OPENAI_MODEL: 'talk' },
  }),
  sealed: async (_, prompt) => ({ args: ['-m', 'talk', '--yolo', '-p', prompt] }),
}

const opencode: Program = {
  name: 'opencode',
  package: 'opencode-ai',
  command: 'opencode',
  compacts: true,
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
  sealed: async (_, prompt) => ({
    args: ['run', '-m', 'sealgate/claude-opus-4-8', prompt],
    env: { OPENCODE_PERMISSION: '{"*":"allow"}' },
  }),
}

const continues: Program = {
  name: 'Continue',
  package: '@continuedev/cli',
  command: 'cn',
  models: ['talk'],
  reads: (filepath) => ({ call: 'Read', args: { filepath } }),
  runs: (command) => ({ call: 'Bash', args: { command } }),
  async start({ base, key }, home, prompt) {
    const model = { name: 'talk', provider: 'openai', model: 'talk', apiBase: `${base}/v1`, apiKey: key }
    const file = join(home, 'config.yaml')
    await writeFile(file, JSON.stringify({ name: 'own', version: '1.0.0', schema: 'v1', models: [model] }))
    return { args: ['--config', file, '--auto', '-p', prompt], env: { CONTINUE_CLI_ENABLE_TELEMETRY: '0' } }
  },
  sealed: async (_, prompt) => ({ args: ['--auto', '-p', prompt] }),
}

/** A library, so that a script of a few lines is the program. */
const agents: Program = {
  name: 'Agents SDK',
  package: '@openai/agents',
  command: 'node',
  node: 22,
  models: ['talk'],
  reads: (file) => ({ call: 'read', args: { file } }),
  runs: (command) => ({ call: 'run', args: { command } }),
  async start({ base, key }, home, prompt) {
    const env = { OPENAI_BASE_URL: `${base}/v1`, OPENAI_API_KEY: key }
    return { ...(await agents.sealed(home, prompt)), env }
  },
  async sealed(home, prompt) {
    await copyFile('test/programs/agent.mjs', join(home, 'agent.mjs'))
    return { args: [join(home, 'agent.mjs'), prompt] }
  },
}
export const programs: readonly Program[] = [codex, claude, gemini, qwen, opencode, continues, agents]
