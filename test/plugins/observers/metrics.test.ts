import t from 'tap'
import { metrics } from '../../../plugins/observers/prometheus/metrics.ts'

t.test('a process tells no more of itself than siblings could keep of it', async (t) => {
  const meanwhile: (() => void)[] = []
  const measured = async () => {
    for (const refuse of meanwhile) refuse()
    return [[]]
  }
  const own = metrics.create({ siblings: { measured } }, {}, 'metrics')
  const refusals = async () => /^sealgate_limited_total\{.*\} (\d+)$/m.exec(await own.told())?.[1]
  own.observer.limited!('requests')
  meanwhile.push(() => own.observer.limited!('requests'))
  t.equal(await refusals(), '1', 'a refusal while the others are asked belongs to the next time')
  t.equal(await refusals(), '2')
})
