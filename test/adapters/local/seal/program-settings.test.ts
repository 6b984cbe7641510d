import { join } from 'node:path'
import t, { type Test } from 'tap'
import { programOf } from '../../../../adapters/local/seal/programs.ts'

interface Case {
  readonly program: string
  readonly args?: readonly string[]
  /** Files of the user, of the project and of the machine. */
  readonly files?: Readonly<Record<string, string>>
}

const settings = (file: string, value: object) => ({ [file]: JSON.stringify(value) })

const signsIn = { security: { auth: { selectedType: 'gemini-api-key' } } }

/** What goes past the proxy, and beside it what differs in one thing and does not; the reason names what is to be taken out. */
const pairs: Readonly<Record<string, readonly [past: Case, named: RegExp, fine: Case]>> = {
  'Claude Code goes by an HTTP proxy where its settings take this machine from the addresses without one.': [
    { program: 'claude', files: settings('home/.claude/settings.json', { env: { no_proxy: 'a.example, b.example' } }) },
    /settings\.json sets no_proxy/,
    { program: 'claude', files: settings('home/.claude/settings.json', { env: { no_proxy: 'a.example, 127.0.0.1' } }) },
  ],
  'Settings of the machine give Claude Code an address.': [
    {
      program: 'claude',
      files: settings('etc/claude-code/managed-settings.json', { env: { ANTHROPIC_BASE_URL: 'x' } }),
    },
    /managed-settings\.json sets ANTHROPIC_BASE_URL/,
    { program: 'claude', files: settings('etc/claude-code/managed-settings.json', { env: { ANTHROPIC_MODEL: 'x' } }) },
  ],
  'Parts of the machine’s settings give Claude Code an address.': [
    { program: 'claude', files: settings('etc/claude-code/managed-settings.d/9.json', { env: { ANTHROPIC_BASE_URL: 'x' } }) }, // prettier-ignore
    /9\.json sets ANTHROPIC_BASE_URL/,
    { program: 'claude', files: settings('etc/claude-code/managed-settings.d/9.txt', { env: { ANTHROPIC_BASE_URL: 'x' } }) }, // prettier-ignore
  ],
  'A session of Claude Code runs elsewhere.': [
    { program: 'claude', args: ['--cloud', 'x'] },
    /--cloud/,
    { program: 'claude', args: ['--continue', 'x'] },
  ],
  'Codex hands its work to another machine.': [
    { program: 'codex', args: ['--remote=wss://x'] },
    /another machine/,
    { program: 'codex', args: ['--search'] },
  ],
  'Codex hands a task to its vendor.': [
    { program: 'codex', args: ['cloud', 'x'] },
    /another machine/,
    { program: 'codex', args: ['exec', 'cloud'] },
  ],
  'opencode works on another server.': [
    { program: 'opencode', args: ['run', '--attach', 'http://x', 'Hi'] },
    /--attach/,
    { program: 'opencode', args: ['run', '--title', 'http://x', 'Hi'] },
  ],
  'opencode shows another server.': [
    { program: 'opencode', args: ['attach', 'http://x'] },
    /attach/,
    { program: 'opencode', args: ['run', 'attach'] },
  ],
  'opencode shares its session.': [
    { program: 'opencode', args: ['run', '--share', 'Hi'] },
    /--share/,
    { program: 'opencode', args: ['run', '--fork', 'Hi'] },
  ],
  'Settings of the machine give opencode other providers.': [
    { program: 'opencode', files: settings('etc/opencode/opencode.json', { enabled_providers: ['x'] }) },
    /opencode\.json sets enabled_providers/,
    { program: 'opencode', files: settings('etc/opencode/opencode.json', { disabled_providers: ['x'] }) },
  ],
  'Settings of the machine give opencode’s provider another address.': [
    {
      program: 'opencode',
      files: settings('etc/opencode/opencode.jsonc', { provider: { sealgate: { options: {} } } }),
    },
    /opencode\.jsonc sets provider\.sealgate/,
    { program: 'opencode', files: settings('etc/opencode/opencode.jsonc', { provider: { other: { options: {} } } }) },
  ],
  'Models of Qwen Code have addresses of their own.': [
    { program: 'qwen', files: settings('home/.qwen/settings.json', { modelProviders: { openai: [{ id: 'm' }] } }) },
    /settings\.json sets modelProviders/,
    { program: 'qwen', files: settings('home/.qwen/settings.json', { modelProviders: {} }) },
  ],
  'Usual settings of the machine give models of Qwen Code addresses.': [
    { program: 'qwen', files: settings('etc/qwen-code/system-defaults.json', { modelProviders: { openai: [{ id: 'm' }] } }) }, // prettier-ignore
    /system-defaults\.json sets modelProviders/,
    { program: 'qwen', files: settings('etc/qwen-code/system-defaults.json', { modelProviders: {} }) },
  ],
  'An argument gives Qwen Code an address.': [
    { program: 'qwen', args: ['--openai-base-url=http://x'] },
    /--openai-base-url/,
    { program: 'qwen', args: ['--proxy=http://x'] },
  ],
  'Settings of the machine choose how Gemini CLI signs in.': [
    { program: 'gemini', files: { ...settings('etc/gemini-cli/settings.json', { selectedAuthType: 'oauth-personal' }), ...settings('home/.gemini/settings.json', signsIn) } }, // prettier-ignore
    /selectedType/,
    { program: 'gemini', files: settings('home/.gemini/settings.json', signsIn) },
  ],
  'A comment stands in a file that gives an address.': [
    { program: 'claude', files: { 'work/.claude/settings.json': '{"env": /* ours */ {"ANTHROPIC_BASE_URL": "x"}}' } },
    /ANTHROPIC_BASE_URL/,
    { program: 'claude', files: { 'work/.claude/settings.json': '{"env": /* ours */ {"ANTHROPIC_MODEL": "x"}}' } },
  ],
  'A file is malformed, and the program may understand it.': [
    { program: 'claude', files: { 'work/.claude/settings.json': '{"env": {"ANTHROPIC_MODEL": "x"}' } },
    /settings\.json is not JSON/,
    { program: 'claude', files: { 'work/.claude/settings.json': '{"env": {"ANTHROPIC_MODEL": "x"}}' } },
  ],
}

const checking = async (t: Test, { program, args = [], files = {} }: Case): Promise<void> => {
  const place = t.testdir({ home: {}, work: {}, etc: {}, ...nested(files) })
  const [home, cwd, etc] = ['home', 'work', 'etc'].map((name) => join(place, name)) as [string, string, string]
  await programOf(program).check?.({ args, env: {}, home, cwd, etc })
}

type Folder = { [name: string]: Folder | string }

/** Files by their paths as folders in folders. */
const nested = (files: Readonly<Record<string, string>>): Folder => {
  const root: Folder = {}
  for (const [path, text] of Object.entries(files)) {
    const folders = path.split('/')
    const name = folders.pop()!
    const folder = folders.reduce<Folder>((folder, part) => (folder[part] ??= {}) as Folder, root)
    folder[name] = text
  }
  return root
}

for (const [sentence, [past, named, fine]] of Object.entries(pairs))
  t.test(sentence, async (t) => {
    await t.rejects(checking(t, past), { message: named }, 'the command stops')
    await t.resolves(checking(t, fine), 'the other one is started')
  })
