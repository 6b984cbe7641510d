import '../../fakes/unwatched.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { memory } from '../../../adapters/memory/index.ts'
import { fetch as doors } from '../../../adapters/production/platform.ts'
import { use } from '../../../core/plugin.ts'
import typesafe from '../../../plugins/providers/typesafe.ts'
import { running, unhurried } from '../../environments.ts'
import { listening } from '../../fakes/listening.ts'
import { until } from '../../until.ts'
import { ended, pythonWith, unwanted } from './python.ts'
import { keep, verdictsOf } from './verdicts.ts'

interface Report {
  readonly results: readonly { readonly id: string; readonly status: string; readonly reason?: string }[]
}

/** Why a rule is not judged. */
const absent: Readonly<Record<string, string>> = {
  'auth.ignored-when-off': 'is for servers without keys',
  'choice.options': 'asks for more than 26 options',
  'errors.validation-shape': 'asks for 422 where JSON is malformed',
}

t.setTimeout(900_000)

t.test('the rules of jevcompat', { skip: unwanted, timeout: 900_000 }, async (t) => {
  const bin = await pythonWith('jevcompat==0.1.1', 'typesafe-ai')
  const free = createServer()
  const { port } = await listening(t, free, '127.0.0.1')
  free.close()
  await once(free, 'close')
  const reference = spawn(join(bin, 'jevcompat'), ['mock', '--port', String(port)], { stdio: 'ignore' })
  t.teardown(() => reference.kill())
  const baseUrl = `http://127.0.0.1:${port}`
  await until(() =>
    fetch(baseUrl)
      .then(() => true)
      .catch(() => false),
  )
  const upstreams = [use(typesafe, { apiKey: 'k', baseUrl })]
  const models = { 'jev-latest': { upstreams: [{ provider: 'typesafe', model: 'jev-latest' }] } }
  const gateway = await running(t, { ...memory(), fetch: use(doors), upstreams }, { models, ...unhurried })
  const file = join(t.testdir(), 'report.json')
  const { out, err } = await ended(join(bin, 'jevcompat'), [
    'test',
    `${gateway.base}/compat`,
    '--key',
    gateway.key,
    '--json',
    file,
  ])
  await keep('jevcompat-run.txt', out + err)
  const verdicts = verdictsOf('jevcompat')
  for (const { id, status, reason = '' } of (JSON.parse(await readFile(file, 'utf8')) as Report).results) {
    if (status === 'pass') verdicts.passed(id)
    else if (absent[id] !== undefined) verdicts.absent(id, absent[id])
    else verdicts.failed(id, `${status} ${reason}`)
  }
  await verdicts.told(t)
})
