import './fakes/unwatched.ts'
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import OpenAI from 'openai'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { createGateway } from '../core/gateway.ts'
import { type Block, blocksOf, printed, programs, runMarks } from './docs/blocks.ts'
import { program, served } from './fakes/served.ts'

const files = [
  'README.md',
  'SECURITY.md',
  ...(await readdir('docs', { recursive: true })).map((name) => join('docs', name)),
]
const pages = new Map(
  await Promise.all(
    files
      .filter((file) => file.endsWith('.md'))
      .map(async (file) => [file, blocksOf(await readFile(file, 'utf8'))] as const),
  ),
)

/** Why a snippet can't be run on this machine; null where it can. */
const lacks = (command: string, args: readonly string[], what: string): string | null =>
  spawnSync(command, args).status === 0 ? null : what
const curl = lacks('curl', ['--version'], 'there is no curl')

/** The command by its name, as an installation puts it into the path. */
const commandIn = async (folder: string): Promise<void> => {
  await mkdir(folder)
  await writeFile(join(folder, 'sealgate'), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`, {
    mode: 0o755,
  })
}

const said = (command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<string> =>
  new Promise((resolve, reject) =>
    execFile(command, args, { cwd, env, timeout: 120_000 }, (error, out, err) =>
      error ? reject(new Error(`${command} ${args.join(' ')}: ${out}${err}`)) : resolve(out),
    ),
  )

/** A command that goes on running, once it tells its address. */
const begun = (line: string, cwd: string, env: NodeJS.ProcessEnv): Promise<{ child: ChildProcess; at: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', `exec ${line} --port 0`], { cwd, env })
    let text = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part) => {
        text += part
        const at = /listening on http:\/\/(\S+?:\d+)/.exec(text)?.[1]
        if (at !== undefined) resolve({ child, at })
      })
    child.once('exit', () => reject(new Error(text)))
  })

const programsOf = {
  js: (name: string) => [process.execPath, [name], null],
  py: (name: string, text: string) => {
    const missing = [...text.matchAll(/^(?:from|import) (\w+)/gm)]
      .map(([, text]) => text!)
      .find((text) => lacks('python3', ['-c', `import ${text}`], text) !== null)
    return ['python3', [name], missing === undefined ? null : `${name}: Python has no ${missing} here`]
  },
} satisfies Record<string, (name: string, text: string) => [string, string[], string | null]>

/** Runs the blocks of a page in their order, in one folder and against one gateway. */
const play = async (t: Test, blocks: readonly Block[], gateway: { base: string; key: string }, data: string) => {
  const cwd = t.testdir()
  const path = join(cwd, '.path')
  await commandIn(path)
  const { host } = new URL(gateway.base)
  const env = {
    PATH: `${path}:${process.env['PATH']}`,
    HOME: cwd,
    SEALGATE_URL: gateway.base,
    SEALGATE_KEY: gateway.key,
    SEALGATE_DATA: data,
  }
  let proxy = '127.0.0.1:8788'
  let last: string | null = null
  const run = async (command: string, args: readonly string[], without: string | null): Promise<void> => {
    last = null
    if (without === null) last = await said(command, args, cwd, env)
    else await t.test(without, { skip: without }, async () => undefined)
  }
  for (const { mark, text: raw } of blocks) {
    const text = raw.replaceAll('127.0.0.1:8787', host).replaceAll('127.0.0.1:8788', proxy)
    const [, verb, name] = /^(run|file|start|prints)(?: (\S+))?$/.exec(mark ?? '') ?? []
    if (name !== undefined) await writeFile(join(cwd, name), text)
    if (verb === 'start') {
      const { child, at } = await begun(text, cwd, env)
      t.teardown(() => child.kill('SIGKILL'))
      proxy = at
    }
    if (verb === 'run' && name === undefined)
      await run('sh', ['-euc', text], /\bcurl\b|\bsh \w/.test(text) ? curl : null)
    if (verb === 'run' && name !== undefined)
      await run(...programsOf[name.slice(name.lastIndexOf('.') + 1) as keyof typeof programsOf](name, text))
    if (verb === 'prints' && last !== null) t.match(last, printed(text), text)
  }
}

t.test('every program in a page is run by a test, or says why not', (t) => {
  for (const [file, blocks] of pages)
    for (const { language, mark, text } of blocks)
      if (programs.has(language) && !runMarks.test(mark ?? '')) t.fail(`${file}: ${text.split('\n')[0]}`)
  t.end()
})

t.test('the snippets of the pages', { timeout: 180_000 }, async (t) => {
  const data = join(t.testdir(), 'data')
  const server = await served({ SEALGATE_DATA: data })
  t.teardown(() => server.child.kill('SIGKILL'))
  const gateway = { base: server.base, key: server.key }
  let runs = 0
  for (const [file, blocks] of pages) {
    const played = blocks.filter(({ mark }) => /^(run|start)\b/.test(mark ?? ''))
    if (played.length === 0) continue
    runs += played.length
    await t.test(file, (t) => play(t, blocks, gateway, data))
  }
  t.ok(runs >= 25, `${runs} snippets`)
  t.equal(await server.stop('SIGTERM'), 0)
})

t.test('a wrong snippet is found', (t) => {
  t.match('made sk_live_abc\n', printed('made sk_live_…'))
  t.notMatch('made sk_test_abc\n', printed('made sk_live_…'))
  t.notMatch('one\ntwo\n', printed('one'))
  t.notOk(runMarks.test('shown'))
  t.end()
})

/** Where the settings of a program that has no test of its own lead it, and to which model. */
const pointed = (text: string) => ({
  base: /https?:\/\/[^\s"]+/.exec(text)?.[0],
  model: /(?:"|model: |Model ID +|OPENAI_MODEL=)(rehearsal)\b/.exec(text)?.[1],
})

t.test('settings of programs lead to a door that streams to an OpenAI client', async (t) => {
  const names = ['opencode.json', 'config.yaml', 'cline.txt', 'qwen.env']
  const gateway = createGateway(memory())
  t.teardown(() => gateway.close())
  const { credential } = await gateway.keys.create({})
  for (const name of names) {
    const { text } = pages.get('docs/clients.md')!.find(({ mark }) => mark === `file ${name}`)!
    const { base, model } = pointed(text)
    const local: typeof fetch = (input, init) => gateway.fetch(new Request(input, init))
    const client = new OpenAI({ baseURL: base!, apiKey: credential, fetch: local })
    const messages = [{ role: 'user' as const, content: 'Hello' }]
    const options = { stream: true, stream_options: { include_usage: true } } as const
    let output = ''
    for await (const { choices } of await client.chat.completions.create({ model: model!, messages, ...options }))
      output += choices[0]?.delta.content ?? ''
    t.ok(output.length > 0, name)
  }
})
