import t from 'tap'
import { opened } from './fakes/doors.ts'
import { startPostgres } from './fakes/postgres.ts'
import { backend } from './contracts/stage.ts'
import { installed, unwanted } from './programs/installed.ts'
import { through } from './programs/front.ts'
import { programs, type Program } from './programs/programs.ts'
import { ownProtocol } from './programs/reference-gateway.ts'
import { prompt, words, working } from './programs/scripts.ts'

/** Chapters of the protocol that hold for a gateway with keys; `test/dialects/claude-code.test.ts` has a row for what each asks. */
const kept = ['Messages', 'Models', 'Errors', 'Proxying to Bedrock, Vertex, or Foundry']

/** Those of signing in at the program's own gateway, which leaves its optional chapters out by a 404. */
const left = [
  ...['Flow', 'Discovery', 'Device authorization', 'Verification page', 'Token', 'Bearer token', 'TLS'],
  ...['Managed settings', 'Telemetry', 'Usage-limit headers', 'Billing group', 'Client guarantees', 'References'],
]

const paths = {
  kept: ['POST /v1/messages', 'POST /v1/messages/count_tokens', 'GET /v1/models'],
  left: ['GET /managed/settings', 'GET /api/oauth/usage', 'GET /.well-known/oauth-authorization-server'],
  /** Of several kinds of telemetry the protocol names the method once. */
  telemetry: ['POST /v1/metrics'],
}

const chaptersIn = (protocol: string): readonly string[] =>
  [...protocol.matchAll(/^## (.+?)(?: — \w+)?$/gm)].map((match) => match[1]!)

const pathsIn = (protocol: string): readonly string[] => [
  ...new Set([...protocol.matchAll(/(?:GET|POST) \/[\w./-]+/g)].map(([path]) => path)),
]

/** All that the program asks of an address; what is not essential is not switched off, but for what goes to the vendor. */
const curious = (claude: Program): Program => ({
  ...claude,
  start: async (gateway, home, prompt) => {
    const { args, env } = await claude.start(gateway, home, prompt)
    const { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: _, ...rest } = env ?? {}
    const quiet = { DISABLE_TELEMETRY: '1', DISABLE_ERROR_REPORTING: '1', DISABLE_AUTOUPDATER: '1' }
    return { args, env: { ...rest, ...quiet, CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1' } }
  },
})

t.setTimeout(900_000)

const claude = programs.find(({ name }) => name === 'Claude Code')!

t.test('the gateway has what Claude Code asks of gateways', { skip: unwanted(claude) }, async (t) => {
  const installation = await installed(t, curious(claude))

  await t.test('no request of the program is one that nobody foresaw', async (t) => {
    const { home, note } = await installation.home('home', words.note)
    const doors = await opened(
      t,
      working(claude, note),
      Object.fromEntries(claude.models.map((name) => [name, 'messages'])),
    )
    const front = await backend(t, (request) => through(doors.base, request))
    t.match(await installation.inTheClear({ base: front.url, key: doors.key }, home, prompt), /All is done\./)
    const asked = new Set(front.asked.map(({ method, path }) => `${method} ${path.replace(/\?.*/, '')}`))
    t.ok(asked.has('GET /v1/models') && asked.has('POST /v1/messages'), [...asked].join(', '))
    for (const path of asked) t.ok([...paths.kept, 'HEAD /', 'HEAD /api/hello'].includes(path), path)
  })

  const postgres = await startPostgres()
  t.teardown(() => postgres?.close())
  const missing = postgres === null && 'PostgreSQL, which its gateway needs, is not there'
  await t.test('its own gateway tells no chapter and no path that nobody foresaw', { skip: missing }, async (t) => {
    const protocol = await ownProtocol(t, installation, postgres!)
    t.same([...chaptersIn(protocol)].sort(), [...kept, ...left].sort())
    t.same([...pathsIn(protocol)].sort(), Object.values(paths).flat().sort())
    const doors = await opened(t, () => ({ status: 500, body: '{}' }))
    for (const [known, list] of [
      [true, paths.kept],
      [false, [...paths.left, ...paths.telemetry, 'GET /protocol']],
    ] as const)
      for (const place of list) {
        const [method = '', path = ''] = place.split(' ')
        t.equal((await doors.call(method, path, method === 'POST' ? {} : undefined)).status !== 404, known, place)
      }
  })
})
