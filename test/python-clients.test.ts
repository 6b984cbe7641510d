import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import t from 'tap'
import { opened } from './fakes/doors.ts'
import { scripted } from './fakes/scripted.ts'
import { sealedDoors } from './fakes/sealed-doors.ts'
import { pythonWith } from './lab/suites/python.ts'

const unwanted = process.env['SEALGATE_PROGRAMS'] !== '1' && 'SEALGATE_PROGRAMS=1 installs and runs it'

/** Each client with the packages that it needs, and how often it hears the word. */
const clients: Readonly<Record<string, readonly [packages: readonly string[], times: number]>> = {
  openai: [['openai==2.54.0'], 4],
  anthropic: [['anthropic==2.14.0'], 2],
  google_genai: [['google-genai==3.6.1'], 2],
  litellm: [['litellm==1.110.2'], 3],
  langchain: [['langchain-openai==1.4.3', 'langchain-anthropic==1.7.10'], 3],
  instructor: [['instructor==1.17.0'], 1],
  llama_index: [['llama-index-llms-openai-like==0.8.1'], 2],
}
const aider = ['aider-chat==0.86.2']

const word = 'ahoy-from-a-backend'
const play = scripted((_, [tool]) => [tool === undefined ? { say: word } : { call: tool, args: { word } }])
const models = { talk: 'chat', 'claude-sonnet-4-own': 'messages', 'gemini-3-own': 'gemini' } as const

const main = resolve('dist/adapters/production/main.js')

/** What a program prints to its end. */
const printed = (file: string, args: readonly string[], cwd: string, env: Record<string, string>): Promise<string> =>
  new Promise((done) => {
    const own = { PATH: process.env['PATH'] ?? '', HOME: cwd, TERM: 'dumb', CI: '1', ...env }
    execFile(file, args, { cwd, env: own, timeout: 180_000, maxBuffer: 1 << 26 }, (_, out, err) => done(out + err))
  })

const inTheClear = ({ base, key }: { readonly base: string; readonly key: string }): Record<string, string> => ({
  ...{ OPENAI_BASE_URL: `${base}/v1`, OPENAI_API_KEY: key },
  ...{ ANTHROPIC_BASE_URL: base, ANTHROPIC_API_KEY: key },
  ...{ GOOGLE_GEMINI_BASE_URL: base, GEMINI_API_KEY: key },
})

t.setTimeout(3_600_000)

/** A program in the clear, and the same behind `sealgate seal`. */
const both = (name: string, times: number, command: () => Promise<readonly [string, ...string[]]>) =>
  t.test(`${name} of Python in the clear and sealed`, { skip: unwanted, timeout: 900_000 }, async (t) => {
    const [file, ...args] = await command()
    const heard = (text: string): number => text.split(word).length - 1
    const open = await opened(t, play, models)
    const clear = await printed(file, args, t.testdir(), inTheClear(open))
    t.ok(heard(clear) >= times, `in the clear: ${clear.slice(-2000)}`)
    const doors = await sealedDoors(t, play, models)
    const seal = [main, 'seal', '--allow-insecure-dev', '--', file, ...args]
    const env = { SEALGATE_URL: doors.base, SEALGATE_KEY: doors.key }
    const sealed = await printed(process.execPath, seal, t.testdir(), env)
    t.ok(heard(sealed) >= times, `sealed: ${sealed.slice(-2000)}`)
    const routes = doors.logged.filter(({ event }) => event === 'request').map(({ facts }) => String(facts['route']))
    t.ok(routes.length > 0 && routes.every((route) => !/\/(v1|v1beta)\//.test(route)), 'no route in the clear is taken')
    t.notMatch(JSON.stringify(doors.logged), word)
  })

for (const [name, [packages, times]] of Object.entries(clients))
  void both(name, times, async () => [
    join(await pythonWith(...packages), 'python'),
    resolve('test/programs/clients.py'),
    name,
  ])

void both('aider', 1, async () => [
  join(await pythonWith(...aider), 'aider'),
  ...['--model', 'openai/talk', '--no-git', '--yes-always', '--no-check-update', '--no-show-model-warnings'],
  ...['--analytics-disable', '--no-stream', '--no-show-release-notes', '--no-gitignore', '--message', 'Say ahoy.'],
])
