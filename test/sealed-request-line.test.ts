import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { enclaveWithin } from '../adapters/memory/enclave.ts'
import { memory } from '../adapters/memory/index.ts'
import { Unavailable } from '../core/errors.ts'
import { Enclave } from '../core/ports/enclave.ts'
import { connect } from '../plugins/sealed/client/client.ts'
import { running } from './environments.ts'
import { given } from './fitted.ts'
import { until } from './until.ts'

/** A gateway whose enclave takes a while to tell its models, and answers no sooner than it told them to a call that asked. */
const stage = async (t: Test) => {
  let isSilent = false
  let models = 0
  const slow = given(Enclave, 'slow', () => {
    const inner = enclaveWithin()({ upstreams: [], tools: [] }).make(() => ({}) as never)
    return {
      ...inner,
      async models(signal) {
        if (isSilent) throw new Unavailable()
        await sleep(50)
        models++
        return inner.models(signal)
      },
      async handle(...call) {
        const before = models
        await until(() => isSilent || models > before, 1_000)
        return inner.handle(...call)
      },
    }
  })
  const gateway = await running(t, { ...memory(), enclave: slow })
  const { chat } = connect({ baseUrl: gateway.base, apiKey: gateway.key, policy: { allowInsecureDev: true } })
  const asking = { model: 'rehearsal', messages: [{ role: 'user', content: 'Hello' }] }
  return {
    async ask(stream: boolean) {
      if (stream) for await (const _ of await chat.completions.create({ ...asking, stream })) continue
      else await chat.completions.create(asking)
    },
    silence: () => void (isSilent = true),
    /** The lines of sealed chats, once there are so many. */
    async lines(count: number) {
      const found = () =>
        gateway.logged.filter(
          ({ event, facts }) => event === 'request' && String(facts['route']).endsWith('completions'),
        )
      t.ok(await until(() => found().length === count))
      return found().map(({ facts }) => facts)
    },
  }
}

const booked = { model: 'rehearsal', backend: 'rehearsal', tokens: Number }

t.test('the line of each sealed chat names model, backend and tokens', async (t) => {
  const { ask, lines } = await stage(t)
  await ask(false)
  await ask(true)
  await ask(false)
  t.match(await lines(3), [booked, booked, booked])
})

t.test('a sealed chat is booked by models of earlier, where its enclave tells none any more', async (t) => {
  const { ask, lines, silence } = await stage(t)
  await ask(false)
  silence()
  await ask(true)
  t.match(await lines(2), [booked, booked])
})
