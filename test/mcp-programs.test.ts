import './fakes/unwatched.ts'
import { chmod, mkdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { type Program, type Starting, programs } from './fakes/agent-programs.ts'
import { type Doors, opened } from './fakes/doors.ts'
import { endedProgram, installed } from './fakes/npm-program.ts'
import { type Script, scripted } from './fakes/scripted.ts'
import { program as sealgate, served } from './fakes/served.ts'
import { filesIn, traces } from './fakes/traces.ts'
import { sealedDoors } from './fakes/sealed-doors.ts'
import { folderOf } from './helpers.ts'

/** The programs are large: `1` installs and runs all of them, a name that one. */
const asked = process.env['SEALGATE_PROGRAMS'] ?? ''

const marks = ['canaryqheron', 'canaryqname']

/** Programs put a name of theirs before a tool's; some offer a search, and the tools that were found. */
const scriptFor =
  (file: string): Script =>
  (turn, tools) => {
    const [wanted, search] = ['getTextDocumentContent', 'tool_search']
    const found = turn - (tools.includes(search) ? 1 : 0)
    if (found < 0) return [{ call: search, args: { query: wanted } }]
    const call = tools.find((name) => name.endsWith(wanted))
    if (call === undefined) return [{ say: 'A title' }]
    return found === 0 ? [{ call, args: { file } }] : [{ say: 'All is done.' }]
  }

/** The lines of the page that a user of the program pastes, with this gateway, key and folder. */
const linesOf = async ({ name }: Program, base: string, key: string, root: string): Promise<string> => {
  const page = await readFile('docs/mcp.md', 'utf8')
  const from = page.indexOf(`\n### ${name}\n`)
  const [, lines] = /```\w+\n([\s\S]*?)\n```/.exec(page.slice(from)) ?? []
  if (from < 0 || lines === undefined) throw new Error(`docs/mcp.md has no lines for ${name}`)
  return lines
    .replaceAll('https://gateway.example', base)
    .replaceAll('/home/me/papers', root)
    .replaceAll(/\$KEY|…/g, key)
}

/** The command `sealgate` of this build, for a gateway that proves nothing. */
const commandIn = async (folder: string): Promise<void> => {
  await mkdir(folder)
  const command = `#!/bin/sh\nexec '${process.execPath}' '${sealgate}' "$@" --allow-insecure-dev\n`
  await writeFile(join(folder, 'sealgate'), command)
  await chmod(join(folder, 'sealgate'), 0o755)
}

interface Places {
  /** The data of the gateway whose tools are called, the folder that is allowed, and the home of the program. */
  readonly data: string
  readonly root: string
  readonly home: string
  /** The program's own command, and the path by which it finds others. */
  readonly command: string
  readonly path: string
}

const placesOf = async (t: Test, program: Program): Promise<Places> => {
  const commands = join(await installed(t, program.package), 'node_modules/.bin')
  const folder = await realpath(await folderOf(t))
  const at = (name: string) => join(folder, name)
  const [data, root, home, bin] = [at('data'), at('papers'), at('home'), at('bin')]
  await Promise.all([data, root, home].map((text) => mkdir(text)))
  await commandIn(bin)
  await writeFile(join(root, 'canaryqname.txt'), 'The canaryqheron waits.')
  const path = `${bin}:${commands}:${process.env['PATH'] ?? ''}`
  return { data, root, home, command: join(commands, program.command), path }
}

/** Puts the lines where the program looks for them, beside other settings of its file. */
const paste = async (
  { file }: Program,
  lines: string,
  settings: object,
  home: string,
  env: Starting['env'],
): Promise<void> => {
  if (file === null) return void (await endedProgram('sh', ['-c', lines], home, env))
  const target = join(home, file)
  await mkdir(dirname(target), { recursive: true })
  const isJson = file.endsWith('.json')
  await writeFile(target, isJson ? JSON.stringify({ ...JSON.parse(lines), ...settings }) : lines)
}

/** The model is told what the tool read, and the gateway of the tools can read nothing of it. */
const plays = async (t: Test, program: Program): Promise<void> => {
  const { data, root, home, command, path } = await placesOf(t, program)
  const tools = await served({ SEALGATE_DATA: data, SEALGATE_LOG: 'info' })
  t.teardown(() => tools.child.kill('SIGKILL'))
  const lines = await linesOf(program, tools.base, tools.key, root)
  const script = scripted(scriptFor('canaryqname.txt'))
  const names = { [program.model]: program.backend }
  const own = { PATH: path, HOME: home, TERM: 'dumb', CI: '1' }
  const tells = (text: string, { asked: requests }: Doors['backend'], how: string) => {
    t.match(text, /All is done\./, `${how}: it ends`)
    const isTold = requests.some(({ body }) => body.includes('canaryqheron'))
    t.ok(isTold, `${how}: the model is told what the tool read`)
  }

  const open = await opened(t, script, names)
  const env = { ...own, ...program.env(open) }
  await paste(program, lines, program.settings?.(open) ?? {}, home, env)
  tells(await endedProgram(command, program.args(open), home, env), open.backend, 'in the clear')

  if (program.sealed !== undefined) {
    const closed = await sealedDoors(t, script, names)
    const seal = [sealgate, 'seal', '--allow-insecure-dev', '--', command, ...program.sealed.args]
    const env = { ...own, ...program.sealed.env, SEALGATE_URL: closed.base, SEALGATE_KEY: closed.key }
    // Settings of the program that name another address end the command.
    if (program.file !== null) await paste(program, lines, {}, home, env)
    tells(await endedProgram(process.execPath, seal, home, env), closed.backend, 'sealed')
    t.same(traces(marks, new Map([['log', Buffer.from(JSON.stringify(closed.logged))]])), [], 'nor is the chat')
    const routes = closed.logged.map(({ facts }) => String(facts['route']))
    t.notOk(
      routes.some((route) => /\/(v1|v1beta|std)\//.test(route)),
      'nothing goes in the clear',
    )
  }

  await tools.stop('SIGTERM')
  const seen = await filesIn(data)
  seen.set('log', Buffer.from(tools.said))
  t.match(tools.said, /"route":"POST \/tools/, 'the gateway carried the call')
  t.same(traces(marks, seen), [], 'nothing of it is readable there')
  t.ok(traces(marks, await filesIn(root)).length > 0, 'the search finds what is there')
}

t.setTimeout(600_000)

for (const program of programs) {
  const skip = asked !== '1' && asked !== program.name && 'SEALGATE_PROGRAMS=1 installs and runs it'
  t.test(`${program.name} calls a sealed tool on a local file`, { skip }, (t) => plays(t, program))
}
