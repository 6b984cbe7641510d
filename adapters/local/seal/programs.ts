import { basename } from 'node:path'
import {
  checkClaude,
  checkCodex,
  checkContinue,
  checkGemini,
  checkOpencode,
  checkQwen,
  qwenSettings,
  type ProgramStart,
} from './program-settings.ts'

/** The proxy's address and key, for a program. */
export interface Proxy {
  /** The address has no path. */
  readonly url: string
  readonly token: string
  /** Names of the models that the key may use sealed. */
  readonly models: readonly string[]
}

/** How a known program is led to the proxy, and what of it still goes past the proxy. */
export interface Program {
  readonly name: string
  /** Settings that stand in a file for this run alone. The file names no key. */
  settings?(proxy: Proxy, place: ProgramStart): Promise<unknown> | unknown
  /** `file` has the settings; empty without them. */
  variables(proxy: Proxy, file: string): Readonly<Record<string, string>>
  /** Arguments in front of the user's own. */
  args?(proxy: Proxy, file: string): readonly string[]
  /** Throws where the program's own settings lead past the proxy. */
  check?(place: ProgramStart): Promise<void> | void
  /** Sentences about disabled traffic, and about traffic past the proxy. */
  readonly off: string
  readonly past: string
}

const work = 'what its tools, hooks and MCP servers fetch, and what commands do that it runs'

const openai = ({ url, token }: Proxy) => ({
  OPENAI_BASE_URL: `${url}/v1`,
  OPENAI_API_BASE: `${url}/v1`,
  OPENAI_API_KEY: token,
})
const gemini = ({ url, token }: Proxy) => ({
  GOOGLE_GEMINI_BASE_URL: url,
  GOOGLE_GENAI_API_VERSION: 'v1beta',
  GEMINI_API_KEY: token,
})

/** Basic strings of TOML take the escapes of JSON. */
const toml = (text: string): string => JSON.stringify(text)

const programs: readonly Program[] = [
  {
    name: 'claude',
    variables: ({ url, token }) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_AUTH_TOKEN: token,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1',
      DISABLE_AUTOUPDATER: '1',
    }),
    check: checkClaude,
    off: 'telemetry, reports of errors, updates',
    past: work,
  },
  {
    name: 'codex',
    variables: ({ token }) => ({ SEALGATE_SEAL_TOKEN: token }),
    args: ({ url }) => {
      const provider = `{name="sealgate",base_url=${toml(`${url}/v1`)},env_key="SEALGATE_SEAL_TOKEN",wire_api="responses"}`
      const settings = [
        'model_provider="sealgate"',
        `model_providers.sealgate=${provider}`,
        'check_for_update_on_startup=false',
        'analytics.enabled=false',
        'feedback.enabled=false',
      ]
      return settings.flatMap((setting) => ['-c', setting])
    },
    check: checkCodex,
    off: 'analytics, feedback, looking for updates',
    past: work,
  },
  {
    name: 'opencode',
    variables: ({ url, token, models }) => ({
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        provider: {
          sealgate: {
            npm: '@ai-sdk/openai-compatible',
            name: 'sealgate',
            options: { baseURL: `${url}/v1`, apiKey: token },
            models: Object.fromEntries(models.map((name) => [name, {}])),
          },
        },
        enabled_providers: ['sealgate'],
        ...(models[0] !== undefined && { model: `sealgate/${models[0]}`, small_model: `sealgate/${models[0]}` }),
        autoupdate: false,
        share: 'disabled',
      }),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
    }),
    check: checkOpencode,
    off: 'other providers, sharing, updates, the list of models of models.dev',
    past: work,
  },
  {
    name: 'gemini',
    variables: (proxy) => ({ ...gemini(proxy), GEMINI_TELEMETRY_ENABLED: 'false' }),
    check: checkGemini,
    off: 'telemetry',
    past: `usage statistics, unless its privacy.usageStatisticsEnabled is false; ${work}`,
  },
  {
    name: 'qwen',
    settings: (_, place) => qwenSettings(place),
    variables: (proxy, file) => ({ ...openai(proxy), QWEN_CODE_SYSTEM_SETTINGS_PATH: file }),
    args: () => ['--auth-type', 'openai'],
    check: checkQwen,
    off: 'telemetry, usage statistics',
    past: work,
  },
  {
    name: 'cn',
    settings: ({ url, models }) => ({
      name: 'sealgate',
      version: '1.0.0',
      schema: 'v1',
      models: models.map((model) => ({
        name: model,
        provider: 'openai',
        model,
        apiBase: `${url}/v1`,
        apiKey: '${{ secrets.SEALGATE_SEAL_TOKEN }}',
        roles: ['chat'],
      })),
    }),
    variables: ({ token }) => ({ SEALGATE_SEAL_TOKEN: token, CONTINUE_CLI_ENABLE_TELEMETRY: '0' }),
    args: (_, file) => ['--config', file],
    check: checkContinue,
    off: 'telemetry',
    past: `looking for updates; ${work}`,
  },
]

/** An unknown program's requests are sealed when it reads one of the usual variables. */
const unknown: Program = {
  name: 'the program',
  variables: (proxy) => ({
    ...openai(proxy),
    ...gemini(proxy),
    ANTHROPIC_BASE_URL: proxy.url,
    ANTHROPIC_API_KEY: proxy.token,
    GOOGLE_API_KEY: proxy.token,
  }),
  off: 'nothing',
  past: 'all that does not go by OPENAI_BASE_URL, ANTHROPIC_BASE_URL or GOOGLE_GEMINI_BASE_URL',
}

/** By the file's name alone; an unknown program gets the usual variables. */
export const programOf = (command: string): Program => {
  const name = basename(command).replace(/\.(exe|cmd|js)$/i, '')
  return programs.find((program) => program.name === name) ?? unknown
}
