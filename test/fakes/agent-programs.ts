import type { Backend, Doors } from './doors.ts'

/** A program that calls tools for its model. */
export interface Program {
  readonly name: string
  readonly package: string
  readonly command: string
  readonly model: string
  readonly backend: Backend
  /** The file below its home that takes the lines of docs/mcp.md; null for a line of a shell. */
  readonly file: string | null
  /** What else the file holds. */
  settings?(model: Doors): object
  args(model: Doors): readonly string[]
  env(model: Doors): Readonly<Record<string, string>>
  /** What follows `sealgate seal --`; absent where that is not tried. */
  readonly sealed?: Starting
}

export interface Starting {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

const prompt = 'Read the note.'

export const programs: readonly Program[] = [
  {
    name: 'Claude Code',
    package: '@anthropic-ai/claude-code',
    command: 'claude',
    model: 'claude-opus-4-8',
    backend: 'messages',
    file: null,
    args: () => ['-p', '--model', 'claude-opus-4-8', '--permission-mode', 'bypassPermissions', prompt],
    env: ({ base, key }) => ({
      ANTHROPIC_BASE_URL: base,
      ANTHROPIC_API_KEY: key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      IS_SANDBOX: '1',
    }),
    sealed: {
      args: ['-p', '--model', 'claude-opus-4-8', '--permission-mode', 'bypassPermissions', prompt],
      env: { IS_SANDBOX: '1' },
    },
  },
  {
    name: 'opencode',
    package: 'opencode-ai',
    command: 'opencode',
    model: 'claude-opus-4-8',
    backend: 'messages',
    file: 'opencode.json',
    settings: ({ base, key }) => ({
      autoupdate: false,
      share: 'disabled',
      permission: { '*': 'allow' },
      provider: { anthropic: { options: { baseURL: `${base}/v1`, apiKey: key } } },
    }),
    args: () => ['run', '-m', 'anthropic/claude-opus-4-8', prompt],
    env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' }),
    sealed: {
      args: ['run', '-m', 'sealgate/claude-opus-4-8', prompt],
      env: { OPENCODE_PERMISSION: '{"*":"allow"}' },
    },
  },
  {
    name: 'Codex',
    package: '@openai/codex',
    command: 'codex',
    model: 'gpt-5.1',
    backend: 'chat',
    file: '.codex/config.toml',
    args({ base }) {
      const own = `{name="gateway",base_url="${base}/v1",env_key="KEY",wire_api="responses",request_max_retries=0}`
      const named = ['-m', 'gpt-5.1', '-c', 'model_provider="gateway"', '-c', `model_providers.gateway=${own}`]
      return ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', ...named, prompt]
    },
    env: ({ key }) => ({ KEY: key }),
    sealed: {
      args: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '-m', 'gpt-5.1', prompt],
      env: {},
    },
  },
  {
    name: 'Gemini CLI',
    package: '@google/gemini-cli',
    command: 'gemini',
    model: 'gemini-2.5-pro',
    backend: 'gemini',
    file: '.gemini/settings.json',
    settings: () => ({
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
    }),
    args: () => ['-m', 'gemini-2.5-pro', '--skip-trust', '--yolo', '-p', prompt],
    env: ({ base, key }) => ({ GOOGLE_GEMINI_BASE_URL: base, GEMINI_API_KEY: key }),
  },
  {
    name: 'Qwen Code',
    package: '@qwen-code/qwen-code',
    command: 'qwen',
    model: 'talk',
    backend: 'chat',
    file: '.qwen/settings.json',
    args: () => ['--auth-type', 'openai', '--yolo', '-p', prompt],
    env: ({ base, key }) => ({ OPENAI_BASE_URL: `${base}/v1`, OPENAI_API_KEY: key, OPENAI_MODEL: 'talk' }),
  },
]
