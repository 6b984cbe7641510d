import '../../fakes/unwatched.ts'
import t, { type Test } from 'tap'
import { Unavailable } from '../../../core/errors.ts'
import { use } from '../../../core/plugin.ts'
import { Prover } from '../../../core/ports/attester.ts'
import command from '../../../plugins/evidence/command.ts'
import { conform } from '../../contracts/contract.ts'
import { prover } from '../../contracts/attester.ts'
import { made } from '../../fitted.ts'

const running = (script: string, more: object = {}) =>
  made(Prover, use(command, { type: 'nitro', run: [process.execPath, '-e', script], ...more }))

const echo = 'process.stdin.pipe(process.stdout)'
const proves = async (_: Test) => running(echo)

t.test('contract', (t) => conform(t, prover.contract, proves))

t.test("the evidence has the program's output under the name of its type", async (t) => {
  const reportData = Uint8Array.from({ length: 64 }, (_, at) => at)
  const text = Buffer.from(reportData).toString('hex')
  t.same(await (await running(echo)).prove(reportData), { type: 'nitro', v: 1, document: text })
  t.same(await (await running(echo, { type: 'tdx' })).prove(reportData), { type: 'tdx', v: 1, quote: text })
  t.same(await (await running(echo, { type: 'sev-snp' })).prove(reportData), { type: 'sev-snp', v: 1, report: text })
  const surroundings = 'process.stdout.write(JSON.stringify(Object.keys(process.env)))'
  const { document } = await (await running(surroundings)).prove(reportData)
  t.equal(Buffer.from(String(document), 'hex').toString(), '[]', 'its environment is empty')
})

t.test('a program that fails gives no evidence', async (t) => {
  const reportData = new Uint8Array(64)
  const broken = {
    'ends with 1': "process.stdout.write('x'); process.exitCode = 1",
    'writes nothing': '',
    'writes too much': "process.stdout.write('x'.repeat(65_537))",
    'is killed': "process.kill(process.pid, 'SIGKILL')",
    'takes too long': "process.stdout.write('x'); setTimeout(() => {}, 60_000)",
  }
  for (const [name, script] of Object.entries(broken)) {
    const gateway = await running(script, name === 'takes too long' ? { timeout: 300 } : {})
    await t.rejects(gateway.prove(reportData), Unavailable, name)
  }
  const absent = await made(Prover, use(command, { type: 'nitro', run: ['/no/such/program'] }))
  await t.rejects(absent.prove(reportData), Unavailable)
  const once = await running(echo)
  await t.resolves(Promise.all([once.prove(reportData), once.prove(reportData)]), 'one behind another')
})

t.test('its settings name a full path', async (t) => {
  await t.rejects(async () => made(Prover, use(command, { type: 'nitro', run: ['nsm-attest'] })))
  await t.rejects(async () => made(Prover, use(command, { type: 'nitro', run: [] })))
  await t.rejects(async () => made(Prover, use(command, { type: 'dev' as 'nitro', run: ['/bin/true'] })))
})
