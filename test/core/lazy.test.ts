import t from 'tap'
import { Unavailable } from '../../core/errors.ts'
import { lazy } from '../../core/plugin.ts'

t.test('callers at once share one load, and later ones have it', async (t) => {
  let loads = 0
  let come: (part: object) => void = () => undefined
  const part = lazy(() => {
    loads++
    return new Promise<object>((resolve) => (come = resolve))
  })
  t.equal(loads, 0, 'nothing is loaded before the first caller')
  const both = Promise.all([part(), part()])
  t.equal(loads, 1)
  come({})
  const [first, second] = await both
  t.equal(first, second)
  t.equal(await part(), first)
  t.equal(loads, 1)
})

t.test('a load that fails is a fault of the installation, and the next caller loads anew', async (t) => {
  const loads = [() => Promise.reject(new TypeError('Canary7319')), async () => 'there']
  const part = lazy(() => loads.shift()!())
  const both = await Promise.allSettled([part(), part()])
  t.equal(loads.length, 1, 'callers at once share the fault')
  for (const outcome of both) {
    const { reason } = outcome as PromiseRejectedResult
    t.type(reason, Unavailable)
    t.notMatch((reason as Unavailable).message, /Canary/)
    t.match((reason as Unavailable).cause, { message: 'Canary7319' })
  }
  t.equal(await part(), 'there')
})
