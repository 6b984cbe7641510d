import type { Test } from 'tap'
import { conform } from '../../contracts/contract.ts'
import { counter } from '../../contracts/counter.ts'
import { everyCut, staged, stagedCount, type Recording } from '../../contracts/stage.ts'
import { upstream } from '../../contracts/upstream.ts'

/** The provider keeps all promises of upstreams, but for those with a reason, and those of counters where it counts. */
export const keepsContracts = async (
  t: Test,
  recording: Recording,
  without: Readonly<Record<string, string>> = {},
): Promise<void> => {
  await t.test('upstreams', (t) => conform(t, upstream.contract, (t) => staged(t, recording), without))
  if (recording.counts !== undefined)
    await t.test('counters', (t) => conform(t, counter.contract, (t) => stagedCount(t, recording)))
}

/** A stream without its end mark throws, wherever it ends. */
export const throwsWhenCut = async (t: Test, recording: Recording): Promise<void> => {
  const { bytes, fooled } = await everyCut(t, recording)
  t.ok(bytes > 2000)
  t.same(fooled, [bytes], `only the whole ${bytes} bytes pass`)
}
