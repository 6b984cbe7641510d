import './fakes/unwatched.ts'
import { execFile } from 'node:child_process'
import { createServer, request } from 'node:http'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { clearHouse } from './fakes/clear-house.ts'
import { listening } from './fakes/listening.ts'
import { npmWith, unwanted } from './lab/suites/python.ts'

/** The suite runs on Node 22 and newer. */
const installed = async (): Promise<{ readonly folder: string; readonly node: string }> => {
  const folder = await npmWith('@modelcontextprotocol/conformance@0.2.0-alpha.12')
  if (Number(process.versions.node.split('.')[0]) >= 22) return { folder, node: process.execPath }
  return { folder, node: join(await npmWith('node@22'), 'node_modules/node/bin/node') }
}

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
    'server-sse-multiple-streams',
    'sep-2164-resource-not-found',
    'input-required-result-unsupported-methods',
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

/** What all other scenarios ask for, and what is not offered. */
const absent: Readonly<Record<string, RegExp>> = {
  prompts: /^prompts-/,
  resources: /^resources-/,
  completion: /^completion-/,
  logging: /^logging-|^tools-call-with-logging$/,
  progress: /^tools-call-with-progress$/,
  sampling: /^tools-call-sampling$/,
  elicitation: /^elicitation-|^tools-call-elicitation$/,
  tasks: /^tasks-/,
  skills: /^sep-2640-/,
  'results that ask back': /^input-required-/,
  'results other than text': /^tools-call-(image|audio|embedded-resource|mixed-content)$/,
  'messages of the server': /^server-sse-/,
  'headers from arguments': /^http-custom-header-/,
  'a tool whose schema has references': /^json-schema-2020-12$/,
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
const failedIn = (text: string): readonly string[] => {
  const plain = text.replace(/\u001b\[[0-9;]*m/g, '')
  if (!/\b(?:SUCCESS|INFO)\b/.test(plain)) return [plain]
  return [...plain.matchAll(/\[([\w-]+) *\] +FAILURE/g)].map(([, id]) => id!)
}

t.setTimeout(900_000)

t.test('the conformance suite of the protocol', { skip: unwanted, timeout: 900_000 }, async (t) => {
  const { folder, node } = await installed()
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
  const told = (...args: readonly string[]) =>
    new Promise<string>((resolve) =>
      execFile(node, [program, ...args], { cwd: t.testdir() }, (_, out, err) => resolve(out + err)),
    )
  for (const [revision, names] of Object.entries(scenarios)) {
    const listed = await told('list', '--server', '--spec-version', revision)
    const all = [...listed.matchAll(/^ +- ([\w-]+)/gm)].map(([, name]) => name!)
    t.ok(all.length > names.length && names.every((name) => all.includes(name)), `scenarios of ${revision}`)
    const known = (name: string) => names.includes(name) || Object.values(absent).some((pattern) => pattern.test(name))
    t.same(
      all.filter((name) => !known(name)),
      [],
      `every scenario of ${revision} is run, or named by what it asks for`,
    )
  }
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
      const text = await told(...args)
      const failed = failedIn(text).filter((id) => !notOffered.has(id))
      t.same(failed, [], `${scenario} of ${revision}`)
    }
})
