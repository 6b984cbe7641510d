import { join } from 'node:path'
import { readFile, readdir } from 'node:fs/promises'
import type { JsonObject } from '../../../core/dialects/json-object.ts'
import { parseJsonc } from '../../production/config/jsonc.ts'

/** Variables that give Claude Code another address or another key. */
const claudes =
  /^(ANTHROPIC_(BASE_URL|AUTH_TOKEN|API_KEY|BEDROCK_.*|VERTEX_.*|FOUNDRY_.*|UNIX_SOCKET)|CLAUDE_CODE_(USE_.*|API_.*))$/

/** Addresses to which a program goes without the HTTP proxy that other settings may name. */
const direct = /^no_proxy$/i

/** Whether a variable leads Claude Code past the proxy; it goes by an HTTP proxy to every address that it may not go to directly. */
const leadsPast = ([name, value]: readonly [name: string, value: unknown]): boolean =>
  claudes.test(name) ||
  (direct.test(name) &&
    !String(value)
      .split(/[\s,]+/)
      .includes('127.0.0.1'))

/** Throws when settings or arguments of Claude Code lead past the proxy. */
export const checkClaude = async (place: ProgramStart): Promise<void> => {
  const { args, env, home, cwd } = place
  const elsewhere = foundFlag(args, ['--cloud', '--remote-control'])
  if (elsewhere !== undefined) throw overrides('claude', 'another machine', `the argument ${elsewhere}`)
  const own = env['CLAUDE_CONFIG_DIR'] ?? join(home, '.claude')
  const given = flagged(args, '--settings')
  const machine = machineFolder(place, 'claude-code', 'ClaudeCode')
  const files = [
    join(machine, 'managed-settings.json'),
    ...(await filesOf(join(machine, 'managed-settings.d'))).filter((file) => file.endsWith('.json')),
    join(own, 'settings.json'),
    join(cwd, '.claude/settings.json'),
    join(cwd, '.claude/settings.local.json'),
    ...(given === undefined || given.trim().startsWith('{') ? [] : [given]),
  ]
  const all = await Promise.all(files.map(async (file) => [file, await settingsIn(file)] as const))
  if (given?.trim().startsWith('{') === true) all.push(['--settings', fieldsOf(given, '--settings')])
  for (const [file, settings] of all) {
    const found = Object.entries(fieldsIn(settings['env'])).find(leadsPast)
    if (found !== undefined) throw overrides('claude', found[0], file)
    if (settings['apiKeyHelper'] !== undefined) throw overrides('claude', 'apiKeyHelper', file)
  }
}

/** Throws when arguments of Codex choose another provider. Our arguments override its files. */
export const checkCodex = ({ args }: ProgramStart): void => {
  if (args[0] === 'cloud' || foundFlag(args, ['--remote']) !== undefined)
    throw overrides('codex', 'another machine', 'an argument')
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
  const found = foundFlag(args, ['--config', '--model', '--agent'])
  if (found !== undefined) throw overrides('cn', 'models', `the argument ${found}`)
}

/** Throws for arguments and for settings of the machine that lead opencode past the proxy. Its other files are preceded. */
export const checkOpencode = async (place: ProgramStart): Promise<void> => {
  const { args } = place
  const flag = foundFlag(args, ['--attach', '--share'])
  if (args[0] === 'attach' || flag !== undefined) throw overrides('opencode', 'another server', `the argument ${flag ?? 'attach'}`) // prettier-ignore
  for (const file of await filesOf(machineFolder(place, 'opencode', 'opencode'))) {
    if (!/\.jsonc?$/.test(file)) continue
    const settings = await settingsIn(file)
    if (settings['enabled_providers'] !== undefined) throw overrides('opencode', 'enabled_providers', file)
    if (at(settings, 'provider', 'sealgate') !== undefined) throw overrides('opencode', 'provider.sealgate', file)
  }
}

/** The settings for all users of a machine. */
const qwensMachine = (place: ProgramStart): string =>
  place.env['QWEN_CODE_SYSTEM_SETTINGS_PATH'] ?? join(machineFolder(place, 'qwen-code', 'QwenCode'), 'settings.json')

/** Throws where one of the files chooses another way of signing in, or an address; says whether one chooses this way. */
const signsIn = async (program: string, usual: string, files: readonly string[]): Promise<boolean> => {
  let isChosen = false
  for (const file of files) {
    const settings = await settingsIn(file)
    const signing = at(settings, 'security', 'auth', 'selectedType') ?? settings['selectedAuthType']
    if (signing !== undefined && signing !== usual) throw overrides(program, 'security.auth.selectedType', file)
    if (at(settings, 'security', 'auth', 'baseUrl') !== undefined)
      throw overrides(program, 'security.auth.baseUrl', file)
    // A model of a list has an address of its own.
    if (Object.keys(fieldsIn(settings['modelProviders'])).length > 0) throw overrides(program, 'modelProviders', file)
    isChosen ||= signing === usual
  }
  return isChosen
}

/** Gemini CLI takes its way of signing in from its files alone, and refuses to run at another address without one. */
export const checkGemini = async (place: ProgramStart): Promise<void> => {
  const { home, cwd } = place
  const own = join(home, '.gemini/settings.json')
  // The variable with another place for this file is not among those of the program.
  const machine = join(machineFolder(place, 'gemini-cli', 'GeminiCli'), 'settings.json')
  if (await signsIn('gemini', 'gemini-api-key', [machine, own, join(cwd, '.gemini/settings.json')])) return
  throw new Error(`gemini needs {"security":{"auth":{"selectedType":"gemini-api-key"}}} in ${own}`)
}

/** Throws where settings or arguments of Qwen Code lead past the proxy. */
export const checkQwen = async (place: ProgramStart): Promise<void> => {
  const flag = foundFlag(place.args, ['--auth-type', '--authType', '--openai-base-url', '--openaiBaseUrl'])
  if (flag !== undefined) throw overrides('qwen', 'an address or a way of signing in', `the argument ${flag}`)
  const machine = [qwensMachine(place), join(machineFolder(place, 'qwen-code', 'QwenCode'), 'system-defaults.json')]
  const files = [place.home, place.cwd].map((folder) => join(folder, '.qwen/settings.json'))
  await signsIn('qwen', 'openai', [...machine, ...files])
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

/** The start of a program: its arguments, variables and folders. */
export interface ProgramStart {
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly home: string
  readonly cwd: string
  /** The folder with settings for all users of the machine, on systems other than macOS. */
  readonly etc: string
}

/**
 * The object in a settings file, with or without comments. A missing file has no settings. Throws for a malformed file,
 * which the program may understand otherwise.
 */
const settingsIn = async (path: string): Promise<JsonObject> => {
  const text = await readFile(path, 'utf8').catch(() => null)
  return text === null || text.trim() === '' ? {} : fieldsOf(text, path)
}

/** The object in a text that stands in `where`. */
const fieldsOf = (text: string, where: string): JsonObject => {
  try {
    return fieldsIn(parseJsonc(text).value)
  } catch (cause) {
    throw new Error(`${where} is not JSON, so nothing tells whether the program would use the proxy`, { cause })
  }
}

/** Empty for anything but an object. */
const fieldsIn = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null ? (value as JsonObject) : {}

/** Undefined as soon as one name of the path is missing. */
const at = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((found, name) => (found as JsonObject | null | undefined)?.[name], value)

/** Where a program reads settings for all users of the machine. */
const machineFolder = ({ etc }: ProgramStart, linux: string, mac: string): string =>
  process.platform === 'darwin' ? join('/Library/Application Support', mac) : join(etc, linux)

/** The files of a folder; a missing folder has none. */
const filesOf = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder).catch(() => [])).map((name) => join(folder, name))

/** The value of a flag, in either spelling: `--flag value` or `--flag=value`. */
const flagged = (args: readonly string[], flag: string): string | undefined => {
  const found = args.findIndex((arg) => arg === flag || arg.startsWith(`${flag}=`))
  return found < 0 ? undefined : args[found] === flag ? (args[found + 1] ?? '') : args[found]!.slice(flag.length + 1)
}

/** The first of these flags among the arguments. */
const foundFlag = (args: readonly string[], flags: readonly string[]): string | undefined =>
  flags.find((flag) => flagged(args, flag) !== undefined)

/** Names the place of the setting and never its value, which may be a key. */
const overrides = (program: string, what: string, where: string): Error =>
  new Error(`${program} would not use the proxy: ${where} sets ${what}; take it out, or start the program by itself`)
