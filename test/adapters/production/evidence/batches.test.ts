import t from 'tap'
import { batchedAttest, challengeTree } from '../../../../adapters/production/evidence/batches.ts'
import { TooMany, Unavailable } from '../../../../core/errors.ts'
import type { Keyset } from '../../../../core/ports/enclave.ts'
import { checkReportData } from '../../../../plugins/sealed/evidence/appraise.ts'
import { refusal } from '../../../plugins/sealed/evidence/samples.ts'
import { fakeClock, settled } from '../../../fakes/clock.ts'

const keysetHash = new Uint8Array(32).fill(3)
const asked = (byte: number): Uint8Array => new Uint8Array(32).fill(byte, 0, 31).fill(byte >> 8, 31)

/** An enclave that answers when the test lets it. */
const slow = (type = 'sev-snp') => {
  const questions: { challenge: Uint8Array; name: string | undefined; tell(): void; fail(error: Error): void }[] = []
  const ask = (challenge: Uint8Array, name?: string) =>
    new Promise<Keyset>((resolve, fail) => {
      const evidence = { type, over: Buffer.concat([keysetHash, challenge]).toString('hex') }
      questions.push({ challenge, name, tell: () => resolve({ keyset: '', keys: [], evidence }), fail })
    })
  return { questions, ask }
}

const holds = ({ evidence }: Keyset, challenge: Uint8Array): Promise<void> =>
  checkReportData(evidence, new Uint8Array(Buffer.from(String(evidence['over']), 'hex')), keysetHash, challenge)

t.test('every challenge of a batch of any size is answered, and no other', async (t) => {
  for (const size of [2, 3, 4, 5, 6, 7, 8, 9, 13, 31, 32, 33, 100, 1023, 1024]) {
    const challenges = Array.from({ length: size }, (_, at) => asked(at + 1))
    const { root, places } = challengeTree(challenges)
    const over = Buffer.concat([keysetHash, root]).toString('hex')
    for (const index of new Set([0, 1, size >> 1, size - 2, size - 1])) {
      const keyset = { keyset: '', keys: [], evidence: { type: 'tdx', over, batch: places[index] } }
      await holds(keyset, challenges[index]!)
      t.equal(await refusal(() => holds(keyset, asked(5000))), 'report_data_mismatch')
    }
  }
})

t.test('one report is in flight; later challenges share the next report', async (t) => {
  const { questions, ask } = slow()
  const attest = batchedAttest(ask, fakeClock())
  const first = attest(asked(1))
  await settled()
  questions[0]!.tell()
  t.notOk('batch' in (await first).evidence)

  const [second, ...others] = [2, 3, 4, 5].map((byte) => attest(asked(byte)))
  await settled()
  t.equal(questions.length, 2, 'the others wait')
  questions[1]!.tell()
  t.notOk('batch' in (await second!).evidence, 'alone it needs no batch')
  await settled()
  t.equal(questions.length, 3)
  questions[2]!.tell()
  for (const [at, answer] of (await Promise.all(others)).entries()) {
    t.match(answer.evidence['batch'], { index: at, size: 3 })
    await holds(answer, asked(at + 3))
    t.equal(await refusal(() => holds(answer, asked(2))), 'report_data_mismatch')
  }
  const elsewhere = attest(asked(9), 'e1')
  await settled()
  t.equal(questions.at(-1)!.name, 'e1', 'each enclave has a line of its own')
  questions.at(-1)!.tell()
  await elsewhere
})

t.test('a fault fails its batch alone', async (t) => {
  const { questions, ask } = slow()
  const attest = batchedAttest(ask, fakeClock())
  const first = attest(asked(1))
  await settled()
  questions[0]!.tell()
  await first
  const second = attest(asked(2))
  const failing = [3, 4].map((byte) => attest(asked(byte)))
  await settled()
  questions[1]!.tell()
  await second
  await settled()
  const fifth = attest(asked(5))
  questions[2]!.fail(new Unavailable())
  for (const work of failing) await t.rejects(work, { name: 'Unavailable' })
  await settled()
  questions[3]!.tell()
  await holds(await fifth, asked(5))
})

t.test('evidence that proves nothing, or of a kind of ones own, is made for each', async (t) => {
  const { questions, ask } = slow('dev')
  const attest = batchedAttest(ask, fakeClock())
  const all = [1, 2, 3].map((byte) => attest(asked(byte)))
  await settled()
  t.equal(questions.length, 3)
  for (const question of questions) question.tell()
  for (const [at, keyset] of (await Promise.all(all)).entries()) await holds(keyset, asked(at + 1))
  const further = [4, 5].map((byte) => attest(asked(byte)))
  await settled()
  t.equal(questions.length, 5, 'none waits for another')
  for (const question of questions) question.tell()
  await Promise.all(further)
})

t.test('an enclave that is busy is asked again, for ten seconds', async (t) => {
  const { questions, ask } = slow()
  const clock = fakeClock()
  const attest = batchedAttest(ask, clock)
  const first = attest(asked(1))
  await settled()
  questions[0]!.fail(new TooMany('Busy'))
  await clock.pass(50)
  t.equal(questions.length, 2)
  questions[1]!.tell()
  await holds(await first, asked(1))

  const never = batchedAttest(async () => {
    throw new TooMany('Busy')
  }, clock)
  const given = t.rejects(never(asked(1)), { name: 'TooMany' })
  await clock.pass(11_000)
  await given
})

t.test('no more wait than there is room for', async (t) => {
  const { questions, ask } = slow()
  const attest = batchedAttest(ask, fakeClock())
  const first = attest(asked(1))
  await settled()
  questions[0]!.tell()
  await first
  const waiting = Array.from({ length: 8194 }, (_, at) => attest(asked(at)).catch((error: Error) => error.name))
  t.equal(await waiting.at(-1), 'TooMany')
  for (let at = 1; at <= 9; at++) {
    await settled()
    questions[at]!.tell()
  }
  const answers = await Promise.all(waiting)
  t.equal(answers.filter((answer) => answer === 'TooMany').length, 1)
  t.match((answers[8192] as Keyset).evidence['batch'], { size: 1024 })
})
