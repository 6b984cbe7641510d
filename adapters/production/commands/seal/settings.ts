import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Where a program is started, and how. */
export interface Place {
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly home: string
  readonly cwd: string
}

type Fields = Readonly<Record<string, unknown>>

/** Settings in a file as far as they are a JSON object; comments and what is no JSON are read as nothing set. */
const settingsIn = async (path: string): Promise<Fields> => fieldsOf(await readFile(path, 'utf8').catch(() => ''))

const fieldsOf = (text: string): Fields => {
  try {
    const value: unknown = JSON.parse(text.replace(/^\s*\/\/.*$/gm, ''))
    return typeof value === 'object' && value !== null ? (value as Fields) : {}
  } catch {
    return {}
  }
}

const at = (it: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((found, name) => (found as Fields | null | undefined)?.[name], it)

const overrides = (program: string, what: string, where: string): Error =>
  new Error(`${program} would not use the proxy: ${where} sets ${what}; take it out, or start the program by itself`)

/** Variables that lead Claude Code to another address, or give it another key. */
const claudes =
  /^(ANTHROPIC_(BASE_URL|AUTH_TOKEN|API_KEY|BEDROCK_.*|VERTEX_.*|FOUNDRY_.*|UNIX_SOCKET)|CLAUDE_CODE_(USE_.*|API_.*))$/

/** The value behind a flag, in either spelling. */
const flagged = (args: readonly string[], flag: string): string | undefined => {
  const found = args.findIndex((it) => it === flag || it.startsWith(`${flag}=`))
  return found < 0 ? undefined : args[found] === flag ? (args[found + 1] ?? '') : args[found]!.slice(flag.length + 1)
}

/** Throws where settings of Claude Code lead past the proxy. */
export const checkClaude = async ({ args, env, home, cwd }: Place): Promise<void> => {
  const own = env['CLAUDE_CONFIG_DIR'] ?? join(home, '.claude')
  const given = flagged(args, '--settings')
  const files = [
    '/etc/claude-code/managed-settings.json',
    join(own, 'settings.json'),
    join(cwd, '.claude/settings.json'),
    join(cwd, '.claude/settings.local.json'),
    ...(given === undefined || given.trim().startsWith('{') ? [] : [given]),
  ]
  const all = await Promise.all(files.map(async (file) => [file, await settingsIn(file)] as const))
  if (given?.trim().startsWith('{') === true) all.push(['--settings', fieldsOf(given)])
  for (const [file, settings] of all) {
    const name = Object.keys(fieldsIn(settings['env'])).find((it) => claudes.test(it))
    if (name !== undefined) throw overrides('claude', name, file)
    if (settings['apiKeyHelper'] !== undefined) throw overrides('claude', 'apiKeyHelper', file)
  }
}

const fieldsIn = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

/** Throws for arguments of Codex that choose another provider; its files give way to our arguments. */
export const checkCodex = ({ args }: Place): void => {
  for (const [place, arg] of args.entries()) {
    if (/^(--oss|--local-provider|--profile|-p)(=|$)/.test(arg))
      throw overrides('codex', 'a provider', `the argument ${arg}`)
    const isConfig = /^(-c|--config)$/.test(args[place - 1] ?? '') || /^(-c|--config=?)/.test(arg)
    if (isConfig && /model_provider|openai_base_url|chatgpt_base_url|^(?:-c|--config=)?profile/.test(arg)) {
      throw overrides('codex', 'a provider', `the argument ${arg.replace(/=.*/s, '')}`)
    }
  }
}

/** Throws where settings of Gemini CLI or Qwen Code choose another way of signing in, or an address. */
export const checkGemini =
  (program: 'gemini' | 'qwen', usual: string) =>
  async ({ home, cwd }: Place): Promise<void> => {
    const folder = `.${program}`
    const files = [
      `/etc/${program}-cli/settings.json`,
      join(home, folder, 'settings.json'),
      join(cwd, folder, 'settings.json'),
    ]
    for (const file of files) {
      const settings = await settingsIn(file)
      const signing = at(settings, 'security', 'auth', 'selectedType') ?? settings['selectedAuthType']
      if (signing !== undefined && signing !== usual) throw overrides(program, 'security.auth.selectedType', file)
      if (at(settings, 'security', 'auth', 'baseUrl') !== undefined)
        throw overrides(program, 'security.auth.baseUrl', file)
    }
  }
