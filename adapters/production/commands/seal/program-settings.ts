import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JsonObject } from '../../../../core/dialects/json-object.ts'

/** The start of a program: its arguments, variables and folders. */
export interface ProgramStart {
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly home: string
  readonly cwd: string
}

/** The JSON object in a settings file. A missing or malformed file has no settings. */
const settingsIn = async (path: string): Promise<JsonObject> => fieldsOf(await readFile(path, 'utf8').catch(() => ''))

const fieldsOf = (text: string): JsonObject => {
  try {
    const value: unknown = JSON.parse(text.replace(/^\s*\/\/.*$/gm, ''))
    return typeof value === 'object' && value !== null ? (value as JsonObject) : {}
  } catch {
    return {}
  }
}

const at = (it: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((found, name) => (found as JsonObject | null | undefined)?.[name], it)

const overrides = (program: string, what: string, where: string): Error =>
  new Error(`${program} would not use the proxy: ${where} sets ${what}; take it out, or start the program by itself`)

/** Variables that give Claude Code another address or another key. */
const claudes =
  /^(ANTHROPIC_(BASE_URL|AUTH_TOKEN|API_KEY|BEDROCK_.*|VERTEX_.*|FOUNDRY_.*|UNIX_SOCKET)|CLAUDE_CODE_(USE_.*|API_.*))$/

/** The value of a flag, in either spelling: `--flag value` or `--flag=value`. */
const flagged = (args: readonly string[], flag: string): string | undefined => {
  const found = args.findIndex((it) => it === flag || it.startsWith(`${flag}=`))
  return found < 0 ? undefined : args[found] === flag ? (args[found + 1] ?? '') : args[found]!.slice(flag.length + 1)
}

/** Throws when settings of Claude Code lead past the proxy. */
export const checkClaude = async ({ args, env, home, cwd }: ProgramStart): Promise<void> => {
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

const fieldsIn = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null ? (value as JsonObject) : {}

/** Throws when arguments of Codex choose another provider. Our arguments override its files. */
export const checkCodex = ({ args }: ProgramStart): void => {
  for (const [place, arg] of args.entries()) {
    if (/^(--oss|--local-provider|--profile|-p)(=|$)/.test(arg))
      throw overrides('codex', 'a provider', `the argument ${arg}`)
    const isConfig = /^(-c|--config)$/.test(args[place - 1] ?? '') || /^(-c|--config=?)/.test(arg)
    if (isConfig && /model_provider|openai_base_url|chatgpt_base_url|^(?:-c|--config=)?profile/.test(arg)) {
      throw overrides('codex', 'a provider', `the argument ${arg.replace(/=.*/s, '')}`)
    }
  }
}

/** Throws for arguments of Continue that choose other models than the proxy's. */
export const checkContinue = ({ args }: ProgramStart): void => {
  const found = ['--config', '--model', '--agent'].find((flag) => flagged(args, flag) !== undefined)
  if (found !== undefined) throw overrides('cn', 'models', `the argument ${found}`)
}

/** The settings for all users of a machine. */
const qwensMachine = ({ env }: ProgramStart): string =>
  env['QWEN_CODE_SYSTEM_SETTINGS_PATH'] ??
  (process.platform === 'darwin'
    ? '/Library/Application Support/QwenCode/settings.json'
    : '/etc/qwen-code/settings.json')

/** Throws where one of the files chooses another way of signing in, or an address; says whether one chooses this way. */
const signsIn = async (program: string, usual: string, files: readonly string[]): Promise<boolean> => {
  let isChosen = false
  for (const file of files) {
    const settings = await settingsIn(file)
    const signing = at(settings, 'security', 'auth', 'selectedType') ?? settings['selectedAuthType']
    if (signing !== undefined && signing !== usual) throw overrides(program, 'security.auth.selectedType', file)
    if (at(settings, 'security', 'auth', 'baseUrl') !== undefined)
      throw overrides(program, 'security.auth.baseUrl', file)
    isChosen ||= signing === usual
  }
  return isChosen
}

/** Gemini CLI takes its way of signing in from its files alone, and refuses to run at another address without one. */
export const checkGemini = async ({ env, home, cwd }: ProgramStart): Promise<void> => {
  const own = join(home, '.gemini/settings.json')
  const machine = env['GEMINI_CLI_SYSTEM_SETTINGS_PATH'] ?? '/etc/gemini-cli/settings.json'
  if (await signsIn('gemini', 'gemini-api-key', [machine, own, join(cwd, '.gemini/settings.json')])) return
  throw new Error(`gemini needs {"security":{"auth":{"selectedType":"gemini-api-key"}}} in ${own}`)
}

/** Throws where settings of Qwen Code lead past the proxy. */
export const checkQwen = async (place: ProgramStart): Promise<void> => {
  const files = [place.home, place.cwd].map((folder) => join(folder, '.qwen/settings.json'))
  await signsIn('qwen', 'openai', [qwensMachine(place), ...files])
}

/** The machine's own settings of Qwen Code, which precede a user's, without telemetry. */
export const qwenSettings = async (place: ProgramStart): Promise<unknown> => {
  const own = await settingsIn(qwensMachine(place))
  return {
    ...own,
    privacy: { ...fieldsIn(own['privacy']), usageStatisticsEnabled: false },
    telemetry: { ...fieldsIn(own['telemetry']), enabled: false },
  }
}
