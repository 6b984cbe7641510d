import '../../fakes/unwatched.ts'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { program } from '../../fakes/served.ts'

/** Each module costs a start about a millisecond; the gateway has to be ready within half a second. */
const mostModules = 382

/** Code that a first call loads, by the names of its modules. */
const neededLater = {
  'a chat': [
    'plugins/surfaces/shared/answering',
    'plugins/surfaces/shared/answer-chat',
    'core/inference/calls',
    'plugins/usage/metering/reservations',
    'plugins/surfaces/v1/answer-messages',
    'plugins/surfaces/v1/answer-responses',
    'plugins/surfaces/gemini/answer-contents',
  ],
  'a decision': ['plugins/surfaces/decision/decision-answers', 'plugins/shared/decisions/uncalibrated'],
  'a call of an agent': ['plugins/surfaces/mcp/answer-call'],
  'a call of a tool': [
    'plugins/shared/run-apart',
    'plugins/tools/audioGenerateFromText/speak',
    'plugins/tools/imageDescribeAndCaption/describe',
    'plugins/tools/imageDescribeAndCaptionFallback/recognise',
    'plugins/tools/shared/speakers',
    'plugins/tools/transcribeAudioToText/transcribe',
    'plugins/tools/transcribeAudioWithDiarization/transcribe',
    'plugins/tools/videoDescribeAndCaption/describe',
    'plugins/tools/webPageScraperTool/page',
    'plugins/tools/webPageScraperTool/render',
    'plugins/tools/webSearchTool/search',
  ],
  'a look at the tools': ['plugins/surfaces/shared/tool-schema'],
  'a view of the console': ['plugins/surfaces/console/built'],
  'a view of the front page': ['plugins/surfaces/docs/front-page'],
  'a login': [
    'plugins/credentials/oidc/proved-logins',
    'plugins/credentials/oidc/exchanged-codes',
    'plugins/credentials/oidc/public-keys',
  ],
  'a file': ['plugins/surfaces/files/sent-file'],
  'a receipt': ['plugins/sealed/log/tiles'],
  'a listener': ['plugins/observers/live/stage'],
  'the first screen': ['adapters/production/screen/draw', 'adapters/production/survey'],
} as const

const built = new URL('../../../', import.meta.url).href

/** The names of the gateway's modules that are loaded when it prints its address. */
const loadedAtStart = async (t: Test): Promise<ReadonlySet<string>> => {
  const child = fork(program, [], {
    env: {
      ...{ PATH: process.env['PATH'] ?? '', PORT: '0', SEALGATE_LOG: 'silent' },
      ...{ SEALGATE_DATA: join(t.testdir(), 'data'), SEALGATE_KEY: `sk_live_${'4'.repeat(44)}` },
    },
    execArgv: ['--import', new URL('../../fakes/loaded-modules.js', import.meta.url).href],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [urls] = (await once(child, 'message')) as [readonly string[]]
  const own = urls.filter((url) => /^(core|plugins|adapters)\//.test(url.slice(built.length)) && url.startsWith(built))
  return new Set(own.map((url) => url.slice(built.length).replace(/\.js$/, '')))
}

t.test('a gateway is ready with the code that it needs to be ready', { timeout: 120_000 }, async (t) => {
  const loaded = await loadedAtStart(t)
  t.ok(loaded.has('core/gateway'), 'the count sees the modules')
  t.ok(loaded.size <= mostModules, `${loaded.size} modules of at most ${mostModules}`)
  for (const [need, names] of Object.entries(neededLater))
    for (const name of names) {
      t.ok(existsSync(new URL(`${name}.js`, built)), `${name} is a module`)
      t.notOk(loaded.has(name), `${name} waits for ${need}`)
    }
})
