import '../../fakes/unwatched.ts'
import t from 'tap'
import { memory } from '../../../adapters/memory/index.ts'
import { Observer } from '../../../core/ports/observer.ts'
import { running } from '../../environments.ts'
import { given } from '../../fitted.ts'
import { until } from '../../until.ts'

t.test('the fault of an observer is logged, and stops neither the request nor the others', async (t) => {
  const heard: string[] = []
  const fault = () => {
    throw new Error('no such label')
  }
  const hooks = { came: fault, begin: fault, saw: fault, firstToken: fault, used: fault, left: fault }
  const faulty = given(Observer, 'faulty', (): Observer => ({ ...hooks, isWatching: () => true }))
  const next = given(Observer, 'next', (): Observer => ({
    came: () => heard.push('came'),
    used: ({ backend }) => heard.push(`used ${backend}`),
    left: (route, status) => heard.push(`left ${route} ${status}`),
  }))
  const adapters = memory()
  const gateway = await running(t, { ...adapters, parts: [...(adapters.parts ?? []), faulty, next] })
  const messages = [{ role: 'user', content: 'Hello' }]
  const model = 'rehearsal'
  const answer = await gateway.call('POST', '/v1/chat/completions', { model, messages, stream: true })
  t.equal(answer.status, 200)
  t.match(await answer.text(), /\[DONE\]/)
  t.ok(await until(() => heard.length === 3))
  t.strictSame(heard.toSorted(), ['came', 'left POST /v1/chat/completions 200', 'used rehearsal'])
  const faults = gateway.logged.filter(({ event }) => event === 'observer').map(({ facts }) => facts['hook'])
  t.strictSame([...new Set(faults)].toSorted(), Object.keys(hooks).toSorted())
})

t.test('the fault of a trace is logged, and stops neither the request nor the other traces', async (t) => {
  const heard: string[] = []
  const fault = () => {
    throw new Error('no such span')
  }
  const hooks = { chose: fault, because: fault, began: fault, broke: fault, used: fault, ended: fault }
  const traces = [
    { ...hooks, asks: fault },
    { ...hooks, asks: () => fault },
  ]
  const watchers = traces.map((trace, at) =>
    given(Observer, `faulty-${at}`, (): Observer => ({ isWatching: () => true, begin: () => trace })),
  )
  const last = given(Observer, 'last', (): Observer => ({
    isWatching: () => true,
    begin: () => ({
      chose: (model) => heard.push(`chose ${model}`),
      asks: () => (outcome) => heard.push(`asked: ${outcome}`),
      broke: () => heard.push('broke'),
      began: () => heard.push('began'),
      used: () => heard.push('used'),
      ended: (status) => heard.push(`ended ${status}`),
    }),
  }))
  const adapters = memory()
  const gateway = await running(t, { ...adapters, parts: [...(adapters.parts ?? []), ...watchers, last] })
  const messages = [{ role: 'user', content: 'Hello' }]
  const answer = await gateway.call('POST', '/v1/chat/completions', { model: 'rehearsal', messages, stream: true })
  t.equal(answer.status, 200)
  t.match(await answer.text(), /\[DONE\]/)
  t.ok(await until(() => heard.includes('ended 200')))
  t.strictSame(heard.toSorted(), ['asked: answered', 'began', 'chose rehearsal', 'ended 200', 'used'])
  const faults = gateway.logged.filter(({ event }) => event === 'observer').map(({ facts }) => facts['hook'])
  t.strictSame(faults.toSorted(), [
    'asks',
    'asks',
    ...['began', 'chose', 'ended', 'used'].flatMap((hook) => [hook, hook]),
  ])
})
