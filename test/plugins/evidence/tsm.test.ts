import { execFileSync } from 'node:child_process'
import { constants } from 'node:fs'
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { use } from '../../../core/plugin.ts'
import { Prover } from '../../../core/ports/attester.ts'
import tsm from '../../../plugins/evidence/tsm.ts'
import { conform } from '../../contracts/contract.ts'
import { prover } from '../../contracts/attester.ts'
import { made } from '../../fitted.ts'

/** A tree like the kernel's: what is written to `inblob` comes back in a report from `outblob`, and counts one generation. */
const tree = async (t: Test, { provider = 'sev_guest', meddled = false, auxblob = '' } = {}) => {
  const folder = await mkdtemp(join(tmpdir(), 'sealgate-tsm-'))
  const entry = join(folder, 'sealgate')
  await mkdir(entry)
  const [inblob, outblob] = [join(entry, 'inblob'), join(entry, 'outblob')]
  execFileSync('mkfifo', [inblob, outblob])
  await writeFile(join(entry, 'provider'), `${provider}\n`)
  await writeFile(join(entry, 'auxblob'), auxblob)
  let generation = 7
  await writeFile(join(entry, 'generation'), `${generation}\n`)
  let over = false
  const serve = async () => {
    while (!over) {
      const asked = await readFile(inblob)
      if (over) return
      generation += meddled ? 2 : 1
      await writeFile(join(entry, 'generation'), `${generation}\n`)
      await writeFile(outblob, Buffer.concat([Buffer.from('report over '), asked]))
    }
  }
  const serving = serve()
  t.teardown(async () => {
    over = true
    // Lets go of whoever still waits for a writer or a reader.
    for (const fifo of [inblob, outblob]) await (await open(fifo, constants.O_RDWR | constants.O_NONBLOCK)).close()
    await serving
    await rm(folder, { recursive: true })
  })
  return made(Prover, use(tsm, { folder }))
}

t.test('contract', (t) => conform(t, prover.contract, (t) => tree(t)))

t.test('carries the report and its certificates as the platform gave them', async (t) => {
  const reportData = Uint8Array.from({ length: 64 }, (_, at) => at)
  const prover = await tree(t, { auxblob: 'certificates' })
  const evidence = await prover.prove(reportData)
  t.equal(evidence.type, 'sev-snp')
  t.same(Buffer.from(String(evidence['report']), 'hex'), Buffer.concat([Buffer.from('report over '), reportData]))
  t.equal(Buffer.from(String(evidence['auxblob']), 'hex').toString(), 'certificates')
  const many = await Promise.all([1, 2].map((byte) => prover.prove(new Uint8Array(64).fill(byte))))
  t.same(
    many.map((each) => String(each['report']).slice(-2)),
    ['01', '02'],
    'one at a time',
  )
  const domain = await (await tree(t, { provider: 'tdx_guest' })).prove(reportData)
  t.match(domain, { type: 'tdx', v: 1, quote: /^[0-9a-f]+$/ })
  t.notOk('report' in domain)
})

t.test('one challenge waits, a further one is refused, and the question without one always finds room', async (t) => {
  const prover = await tree(t)
  const asked = [1, 2, 3].map((byte) => prover.prove(new Uint8Array(64).fill(byte)))
  const plain = prover.prove(new Uint8Array(64).fill(7, 0, 32))
  await t.rejects(asked[2]!, { name: 'TooMany' })
  await t.resolves(Promise.all([asked[0], asked[1], plain]))
  await t.resolves(prover.prove(new Uint8Array(64).fill(4)), 'room again')
})

t.test('no evidence rather than a doubtful one', async (t) => {
  const reportData = new Uint8Array(64)
  await t.rejects(
    (await tree(t, { meddled: true })).prove(reportData),
    { name: 'Unavailable' },
    'another process used the entry',
  )
  await t.rejects((await tree(t, { provider: 'unheard_of' })).prove(reportData), { name: 'Unavailable' })
  await t.rejects(
    made(Prover, use(tsm, { folder: '/nowhere/at/all' })).prove(reportData),
    { name: 'Unavailable' },
    'a machine without it',
  )
})
