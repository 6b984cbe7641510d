import '../../fakes/unwatched.ts'
import t, { type Test } from 'tap'
import type { SettingsInput } from '../../../core/settings.ts'
import { type Client, connect } from '../../../plugins/sealed/client/client.ts'
import type { SealgateError } from '../../../plugins/sealed/client/error.ts'
import { until } from '../../until.ts'
import { scripted } from '../../fakes/scripted.ts'
import { sealedDoors } from '../../fakes/sealed-doors.ts'

type Windows = NonNullable<NonNullable<SettingsInput['quotas']>['windows']>

const price = { prompt_price_per_k: 1, completion_price_per_k: 1 }

/** A gateway whose enclave serves five models alike, each with windows of its own or without any. */
const house = async (t: Test, windows: Windows) => {
  const names = ['talk', 'small', 'dear', 'unpriced', 'free']
  const models = names.map((name) => [
    name,
    {
      ...{ standard: false, confidential: true, decide: true, upstreams: [{ provider: 'chat' }] },
      ...(name !== 'unpriced' && { price_config: { confidential: { eu: price } } }),
    },
  ])
  const more: SettingsInput = { models: Object.fromEntries(models), quotas: { windows } }
  const doors = await sealedDoors(
    t,
    scripted(() => [{ say: 'Hello.' }]),
    {},
    more,
  )
  let last: Response | null = null
  const watched: typeof fetch = async (...asked) => (last = await fetch(...asked)).clone()
  const clientOf = (apiKey: string) =>
    connect({ baseUrl: doors.base, apiKey, policy: { allowInsecureDev: true }, fetch: watched })
  const client = clientOf(doors.key)
  const ask = (model: string, by: Client = client) =>
    by.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 })
  const refusal = async (model: string, by?: Client): Promise<SealgateError | null> =>
    ask(model, by).then(
      () => null,
      (error: SealgateError) => error,
    )
  return {
    ...doors,
    client,
    ask,
    refusal,
    last: () => last!,
    other: clientOf((await doors.gateway.keys.create({})).credential),
  }
}

/** Asks until a window is used up, since a call is counted when its answer is over; how many calls were answered. */
const answeredOf = async (model: string, refusal: (model: string) => Promise<SealgateError | null>) => {
  let answered = 0
  await until(async () => {
    const refused = await refusal(model)
    if (refused === null) answered++
    return refused !== null
  })
  return answered
}

t.test('a window of a model holds its sealed calls, and those of no other model', async (t) => {
  const { client, ask, refusal, other, backend } = await house(t, [
    { of: 'key', model: 'talk', requests: 2, per: 'day' },
    { of: 'organization', model: 'small', tokens: 2_000, per: 'hour' },
  ])
  const answered = await answeredOf('talk', refusal)
  t.ok(answered >= 2 && answered <= 4, `${answered} calls were answered`)
  const { length } = backend.asked
  const refused = await refusal('talk')
  t.match(refused, { status: 429, code: 'window_used_up', field: 'model' })
  t.ok(refused!.retryAfter! > 2_000, 'the refusal tells when the window begins anew')
  const questions = { fine: { type: 'noul', instructions: 'Is it fine?' } } as const
  await t.rejects(client.decisions.create({ model: 'talk', state: 'a', questions }), {
    status: 429,
    code: 'window_used_up',
  })
  t.equal(backend.asked.length, length, 'no backend is asked')
  await t.resolves(ask('free'), 'a model without a window is as it was')
  await t.resolves(ask('talk', other), 'another key has a window of its own')
  t.ok((await answeredOf('small', refusal)) > 0)
  t.match(await refusal('small', other), { status: 429 }, 'the keys of an organisation share theirs')
})

t.test('a refusal of an opened call tells its code in a header, beside a body of status and error alone', async (t) => {
  const { client, refusal, last } = await house(t, [{ of: 'key', model: 'talk', requests: 1, per: 'day' }])
  await answeredOf('talk', refusal)
  const questions = { fine: { type: 'noul', instructions: 'Is it fine?' } } as const
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    chat: () => client.chat.completions.create({ model: 'talk', messages: [{ role: 'user', content: 'Hi' }] }),
    decision: () => client.decisions.create({ model: 'talk', state: 'a', questions }),
  }
  for (const [name, call] of Object.entries(calls)) {
    await t.rejects(call(), { status: 429, code: 'window_used_up', field: 'model', retryAfter: Number }, name)
    t.same(await last().json(), { status: 429, error: 'Too many requests' }, name)
    t.match(last().headers.get('x-sealgate-refusal'), /^[0-9a-f]{80,2048}$/, 'the header is sealed and bounded')
    t.match(last().headers.get('retry-after'), /^\d+$/)
  }
})

t.test('a sealed call whose cost does not fit, or is unknown, has no room', async (t) => {
  const { ask, refusal } = await house(t, [
    { of: 'gateway', model: 'dear', cost: 0.000001, per: 'month' },
    { of: 'gateway', model: 'unpriced', cost: 100, per: 'month' },
    { of: 'gateway', model: 'talk', cost: 100, per: 'month' },
  ])
  t.match(await refusal('unpriced'), { code: 'window_used_up' })
  await t.resolves(ask('talk'))
  t.ok((await answeredOf('dear', refusal)) <= 3, 'the cost of one answer uses the window up')
})
