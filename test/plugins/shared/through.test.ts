import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { through } from '../../../plugins/shared/through.ts'

/** One item, and then nothing until the reader has seen enough. */
async function* one(enough: Promise<void>): AsyncGenerator<{ readonly text: string }> {
  yield { text: 'large' }
  await enough
}

t.test('a flow that waits for its next item holds no item that was taken', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  let ends = () => {}
  const enough = new Promise<void>((resolve) => (ends = resolve))
  const flow = through(one(enough), { take: (item, into: object[]) => void into.push(item) })
  const taken = await flow.next().then(({ value }) => new WeakRef(value as object))
  const next = flow.next()
  await turn()
  collect()
  t.equal(taken.deref(), undefined)
  ends()
  t.equal((await next).done, true)
})
