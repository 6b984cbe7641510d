import { createHash } from 'node:crypto'
import t, { type Test } from 'tap'
import metadataStore from '../../../adapters/memory/metadata-store.ts'
import { Unavailable } from '../../../core/errors.ts'
import { use } from '../../../core/plugin.ts'
import { Enclave, type SealedReply } from '../../../core/ports/enclave.ts'
import { MetadataStore, kind } from '../../../core/ports/metadata-store.ts'
import { Clock, Log, Random } from '../../../core/ports/platform.ts'
import { headSigning } from '../../../plugins/sealed/enclave/log-heads.ts'
import { receiptSigner } from '../../../plugins/sealed/enclave/receipts.ts'
import { tilesIn } from '../../../plugins/sealed/log/tiles.ts'
import { ReceiptLog, receiptLog } from '../../../plugins/sealed/log/receipt-log.ts'
import type { WantedHead } from '../../../plugins/sealed/log-signer.ts'
import { fakeClock, settled } from '../../fakes/clock.ts'
import { fitted, given } from '../../fitted.ts'

const receiptOf = (name: string) => createHash('sha256').update(name).digest('hex')

/** A log of receipts whose rows can be made to fail. */
const logStage = (t: Test) => {
  const clock = fakeClock()
  const signer = receiptSigner()
  const sign = headSigning(() => ({ epoch: 1, sign: signer.signHead }), clock)
  const events: string[] = []
  const note = (event: string) => void events.push(event)
  const stage = { isDown: false, isFull: false, refused: 0 }
  const memory = fitted(use(metadataStore)).supply({ rows: MetadataStore }).rows
  const rows: MetadataStore = {
    ...memory,
    create: async (kind, ...rest) => {
      if (stage.isFull && kind.name === 'receipt') {
        stage.refused++
        throw new Unavailable()
      }
      return memory.create(kind, ...rest)
    },
    update: async (kind, id, change, when) => {
      // The enclave has signed by then, and the store does not hear of it.
      if (stage.isDown && 'head' in change) throw new Unavailable()
      return memory.update(kind, id, change, when)
    },
  }
  const never = async (): Promise<never> => {
    throw new Unavailable()
  }
  const enclave = Object.assign(
    { attest: never, models: never, handle: never, keys: async () => ({ keyset: '{}', receipt_keys: [signer.keys] }) },
    { signHead: async (wanted: WantedHead) => sign(wanted) },
  ) as unknown as Enclave
  const parts = fitted(
    use(receiptLog),
    given(Enclave, 'signing', () => enclave),
    given(MetadataStore, 'failing', () => rows),
    given(Clock, 'clock', () => clock),
    given(Log, 'log', () => ({ info: note, warn: note, error: note })),
    given(Random, 'random', () => ({ bytes: (n) => new Uint8Array(n), fraction: () => 0 })),
  )
  t.teardown(() => parts.dispose())
  const { log } = parts.supply({ log: ReceiptLog })
  return {
    ...{ clock, events, log, rows: memory, stage },
    async enter(name: string) {
      log.enter('org', { trailer: Promise.resolve({ receipt: receiptOf(name) }) } as unknown as SealedReply)
      await settled()
    },
    /** A minute: turns of hash functions and of signatures need loops of their own. */
    async minute() {
      for (let at = 0; at < 60; at++) {
        await clock.pass(1_000)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
    proof: async (name: string) => log.proof('org', receiptOf(name)),
  }
}

t.test('a log goes on whose signed head the store did not take, also with an earlier receipt', async (t) => {
  const { clock, events, stage, enter, minute, proof } = logStage(t)
  await enter('first')
  await minute()
  t.match(await proof('first'), { index: 0, size: 1 })

  stage.isDown = true
  await enter('second')
  await enter('third')
  await minute()
  t.ok(events.includes('receipts.waiting'))
  t.equal(await proof('second'), null)

  stage.isDown = false
  events.length = 0
  // Another process, whose clock is behind.
  clock.set(-300_000)
  await enter('earlier')
  clock.set(300_000)
  await minute()
  t.same(events, [])
  const found = [await proof('second'), await proof('third'), await proof('earlier')]
  t.match(found, [{ size: 4 }, { size: 4 }, { index: 3, size: 4 }])
  t.same(found.map((place) => (place as { index: number }).index).sort(), [1, 2, 3])
})

t.test('leaves behind a size are told in their order, from tile to tile', async (t) => {
  const { rows } = fitted(use(metadataStore)).supply({ rows: MetadataStore })
  const { append, behind } = tilesIn(rows)
  const leaves = Array.from({ length: 600 }, (_, at) => receiptOf(`${at}`))
  await append(
    0,
    leaves.map((leaf) => Buffer.from(leaf, 'hex')),
  )
  for (const size of [0, 100, 256, 300, 512, 600]) t.same(await behind(size), leaves.slice(size), `${size}`)
})

t.test('a receipt waits for a store that is away', async (t) => {
  const { events, stage, enter, minute, proof } = logStage(t)
  const warnings: string[] = []
  const warned = ({ name }: Error) => void warnings.push(name)
  process.on('warning', warned)
  t.teardown(() => process.off('warning', warned))
  stage.isFull = true
  await enter('first')
  for (let at = 0; at < 12; at++) await enter(`${at}`)
  await minute()
  t.same([events, warnings], [[], []])
  stage.isFull = false
  await minute()
  t.match(await proof('first'), { size: 13 })
  t.same(events, [])
})

t.test('a store that stays away loses a receipt after ten minutes, with one line of the log', async (t) => {
  const { clock, events, stage, enter } = logStage(t)
  stage.isFull = true
  await enter('first')
  await clock.pass(590_000)
  t.same(events, [])
  await clock.pass(10_000)
  t.same(events, ['receipts.lost'])
})

t.test('a gateway that closes tries the store a last time', async (t) => {
  const { events, stage, enter, log } = logStage(t)
  stage.isFull = true
  await enter('first')
  await enter('second')
  stage.isFull = false
  await log.dispose()
  t.same(events, [])
  t.equal(await log.proof('org', receiptOf('second')), null, 'waits for the next process')
  stage.isFull = true
  stage.refused = 0
  await enter('third')
  await log.dispose()
  t.same([events, stage.refused], [['receipts.lost'], 1])
})

t.test('a turn whose writer has a clock that runs fast ends with a turn of this clock', async (t) => {
  const { clock, rows, enter, minute, proof } = logStage(t)
  await enter('first')
  await minute()
  const ofAnother = { holder: 'killed', until: clock.now() + 86_400_000 }
  const logRows = kind<typeof ofAnother>('receipt_log')
  await rows.update(logRows, 'log', ofAnother)
  await enter('second')
  await clock.pass(20_000)
  t.equal(await proof('second'), null, 'the other writer may live')
  await minute()
  t.match(await proof('second'), { index: 1, size: 2 })
})
