import '../../fakes/unwatched.ts'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { constants, getPriority } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { runErrand } from '../../../plugins/shared/errand.ts'
import { Unreadable } from '../../../core/errors.ts'
import { defaultQueue } from '../../../plugins/shared/fair-shares.ts'
import { runApart, fences } from '../../../plugins/shared/run-apart.ts'
import { flawOf } from '../../../plugins/shared/unreadable-reason.ts'
import { readDocument } from '../../../plugins/readers/document.ts'
import { readData } from '../../../plugins/readers/data.ts'
import { othersMayRun } from '../../fakes/other-user.ts'
import type { Tries } from '../../fakes/prisoner.ts'
import { quietClock } from '../../slowness.ts'

const soon = () => AbortSignal.timeout(60_000)
const linux = process.platform === 'linux' ? {} : { skip: 'no fences here' }

t.test('a parser reaches no network, no file, no program and no environment', linux, async (t) => {
  const server = createServer((socket) => socket.end())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const file = join(t.testdir(), 'secret')
  writeFileSync(file, 'x', { mode: 0o644 })
  const { port } = server.address() as AddressInfo
  const told = await runApart<Record<string, unknown>>('../test/fakes/prisoner', { port, file } satisfies Tries, soon())
  const { offline, strangers, fileless, alone } = await fences()
  t.match(told, { network: !offline, surroundings: [] })
  if (alone) t.equal(told['number'], 1, 'the processes of the machine are not seen')
  if (fileless) t.match(told, { reads: false, writes: false, starts: false }, 'by the permissions of Node')
  t.equal(told['user'] !== process.getuid!(), strangers, 'the user')
  t.equal(told['priority'], getPriority() + constants.priority.PRIORITY_BELOW_NORMAL, 'calls go before parsers')
  t.equal(strangers, othersMayRun(), 'root gives each parser a user of its own')
})

t.test('no process serves two files', async (t) => {
  const tries: Tries = { port: 1, file: '/nowhere' }
  const jobs = Array.from({ length: 3 }, () => runApart<{ process: string }>('../test/fakes/prisoner', tries, soon()))
  const processes = (await Promise.all(jobs)).map(({ process }) => process)
  t.equal(new Set(processes).size, 3)
})

t.test('an answer that is larger than an answer may be is not read', async (t) => {
  await t.resolves(runApart('../test/fakes/talker', 2 ** 20, soon()))
  await t.rejects(runApart('../test/fakes/talker', 200 * 2 ** 20, soon()), Unreadable)
})

t.test(
  'a refused file whose memory its parser took, or that is cut within its first bytes, has no known flaw',
  async (t) => {
    const taken = new Uint8Array(1_000)
    structuredClone(taken.buffer, { transfer: [taken.buffer] })
    t.equal(await flawOf(taken), null)
    t.equal(await flawOf(Buffer.from('PK\x03\x04\x14')), null)
  },
)

t.test('a line of one organisation is read at once beside a hundred hostile files of another', async (t) => {
  const yaml = Buffer.from(Array.from({ length: 170_000 }, (_, at) => `- &a${at} x\n- *a${at}\n`).join(''))
  t.ok(yaml.length > 3_500_000)
  const errand = (organization: string, key = 'key') => ({
    organization,
    key,
    queue: defaultQueue,
    models: null,
    uses: [],
  })
  const line = async () => {
    const began = performance.now()
    const file = { name: 'a.txt', mime: '', bytes: Buffer.from('one line') }
    await runErrand(errand('few'), () => readDocument(file, soon()))
    return performance.now() - began
  }
  await line()
  const alone = Math.max(await line(), await line())
  const left = new AbortController()
  const hostile = Array.from({ length: 100 }, (_, at) =>
    runErrand(errand('many', `${at % 4}`), () => readData({ name: 'a.yaml', mime: '', bytes: yaml }, left.signal)),
  )
  const ended = Promise.allSettled(hostile)
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  const beside = await line()
  left.abort(new Error('left'))
  const busy = (await ended).filter((result) => result.status === 'rejected' && result.reason.name === 'TooMany')
  t.ok(beside < 3 * alone + 3_000, `${Math.round(beside)} ms, alone ${Math.round(alone)} ms`)
  t.ok(busy.length >= 30 && busy.length < 40, `${busy.length} of them are refused as too many`)
})

t.test('aliases by the hundred thousand end a job early', async (t) => {
  const yaml = Buffer.from(Array.from({ length: 8_000 }, (_, at) => `- &a${at} x\n- *a${at}\n`).join(''))
  const clock = quietClock()
  await t.rejects(readData({ name: 'a.yaml', mime: '', bytes: yaml }, soon()), Unreadable)
  const ms = clock()
  t.ok(ms < 5_000, `${Math.round(ms)} ms`)
})
