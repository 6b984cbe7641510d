import '../../fakes/unwatched.ts'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { memory } from '../../../adapters/memory/index.ts'
import { running, unhurried } from '../../environments.ts'
import { ended, pythonWith, unwanted } from './python.ts'
import { keep, verdictsOf } from './verdicts.ts'

interface Report {
  readonly complete: boolean
  readonly operations: { readonly total: number; readonly tested: number; readonly errored: number }
  readonly failures: readonly { readonly title: string; readonly operations: readonly string[] }[]
}

/** Checks of the suite whose every finding is a failure. */
const checks = [
  ...['not_a_server_error', 'status_code_conformance', 'content_type_conformance', 'response_headers_conformance'],
  ...['missing_required_header', 'unsupported_method', 'use_after_free', 'ensure_resource_availability'],
  ...['ignored_auth', 'object_level_authorization', 'response_schema_conformance of answers'],
]

/** Findings that say nothing against a route. */
const harmless: Readonly<Record<string, string>> = {
  'SSE event violates schema': 'describe a stream as text',
  'Allow header mismatch': 'share a path with a route that has a parameter',
}

/** Operations that the others could not be judged beside. */
const apart: Readonly<Record<string, string>> = {
  '/admin/live': 'have no end',
  '/admin/backends/{backend}/rest': 'take a backend away',
}

/** The description says less than the checks of a body, and which models there are. */
const unjudged = 'positive_data_acceptance,negative_data_rejection'

t.setTimeout(900_000)

t.test('schemathesis over each operation, in chains too', { skip: unwanted, timeout: 900_000 }, async (t) => {
  const bin = await pythonWith('schemathesis==4.32.5')
  const gateway = await running(t, memory(), unhurried)
  const folder = t.testdir({ 'schemathesis.toml': `[auth.openapi.bearer]\nbearer = "${gateway.key}"\n` })
  const file = join(folder, 'report.json')
  const args = [
    ...['--config-file', join(folder, 'schemathesis.toml'), 'run', '--no-color', `${gateway.base}/openapi.json`],
    ...['--phases', 'examples,coverage,fuzzing,stateful', '--max-examples', '4', '--seed', '1', '--workers', '2'],
    ...Object.keys(apart).flatMap((path) => ['--exclude-path', path]),
    ...['--exclude-checks', unjudged, '--request-timeout', '20', '--continue-on-failure'],
    ...['--report', 'json', '--report-json-path', file],
  ]
  const { out, err } = await ended(join(bin, 'schemathesis'), args, {}, folder)
  await keep('schemathesis-run.txt', out + err)
  const { complete, operations, failures } = JSON.parse(await readFile(file, 'utf8')) as Report
  t.ok(
    complete && operations.errored === 0 && operations.tested === operations.total - Object.keys(apart).length,
    'each operation is tested',
  )
  const verdicts = verdictsOf('schemathesis, checks of all operations')
  for (const [path, reason] of Object.entries({ ...apart, ...harmless })) verdicts.absent(path, reason)
  const grave = failures.filter(({ title }) => harmless[title] === undefined)
  if (grave.length === 0) for (const check of checks) verdicts.passed(check)
  for (const { title, operations } of grave) verdicts.failed(title, operations.join(', '))
  await verdicts.told(t)
})
