import './fakes/unwatched.ts'
import { execFile } from 'node:child_process'
import { createServer, request } from 'node:http'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { clearHouse } from './fakes/clear-house.ts'
import { listening } from './fakes/listening.ts'

/** A folder in which somebody has installed `@modelcontextprotocol/conformance`, and a Node of 22 or later that runs it. */
const folder = process.env['SEALGATE_CONFORMANCE'] ?? ''
const node = process.env['SEALGATE_CONFORMANCE_NODE'] ?? process.execPath

/** Scenarios that concern a server with tools alone. */
const scenarios: Readonly<Record<string, readonly string[]>> = {
  '2026-07-28': [
    'server-stateless',
    'tools-list',
    'tools-call-simple-text',
    'tools-call-error',
    'dns-rebinding-protection',
    'caching',
    'http-header-validation',
  ],
  '2025-11-25': [
    'server-initialize',
    'server-session-lifecycle',
    'ping',
    'tools-list',
    'tools-call-simple-text',
    'tools-call-error',
    'dns-rebinding-protection',
  ],
}

/** Checks that ask for what is not offered: prompts, resources, and tools that log, elicit or need a capability. */
const notOffered: ReadonlySet<string> = new Set([
  'sep-2575-server-rejects-undeclared-capability',
  'sep-2575-missing-capability-http-400',
  'sep-2575-http-server-no-independent-requests-on-stream',
  'sep-2575-server-no-log-without-loglevel',
  'sep-2549-prompts-list-caching-hints',
  'sep-2549-resources-list-caching-hints',
  'sep-2549-resources-templates-list-caching-hints',
])

/** The checks that failed, by their ids. A server without sessions passes none of theirs, and is told so. */
const failedIn = (said: string): readonly string[] => {
  const plain = said.replace(/\u001b\[[0-9;]*m/g, '')
  if (!/\b(?:SUCCESS|INFO)\b/.test(plain)) return [plain]
  return [...plain.matchAll(/\[([\w-]+) *\] +FAILURE/g)].map(([, id]) => id!)
}

const skip = folder === '' && 'SEALGATE_CONFORMANCE names no folder with @modelcontextprotocol/conformance'

t.test('the conformance suite of the protocol', { skip, timeout: 300_000 }, async (t) => {
  const house = await clearHouse(t)
  // The suite has no key: one is added on the way.
  const between = createServer((asked, answer) => {
    const headers = { ...asked.headers, authorization: `Bearer ${house.key}` }
    const { method, url } = asked
    const on = request(house.base + url, { method, headers }, (told) => {
      answer.writeHead(told.statusCode ?? 502, told.headers)
      told.pipe(answer)
    })
    asked.pipe(on.once('error', () => answer.destroy()))
  })
  const { port } = await listening(t, between, '127.0.0.1')
  const packaged = join(folder, 'node_modules/@modelcontextprotocol/conformance')
  const { version, bin } = JSON.parse(await readFile(join(packaged, 'package.json'), 'utf8'))
  t.comment(`conformance ${version}`)
  const program = join(packaged, typeof bin === 'string' ? bin : bin.conformance)
  for (const [revision, names] of Object.entries(scenarios))
    for (const scenario of names) {
      const args = [
        'server',
        '--url',
        `http://127.0.0.1:${port}/mcp`,
        '--scenario',
        scenario,
        '--spec-version',
        revision,
      ]
      const said = await new Promise<string>((resolve) =>
        execFile(node, [program, ...args], { cwd: t.testdir() }, (_, out, err) => resolve(out + err)),
      )
      const failed = failedIn(said).filter((id) => !notOffered.has(id))
      t.same(failed, [], `${scenario} of ${revision}`)
    }
})
