import './fakes/unwatched.ts'
import Anthropic from '@anthropic-ai/sdk'
import { join } from 'node:path'
import OpenAI from 'openai'
import t from 'tap'
import { connect } from '../plugins/sealed/client/client.ts'
import { nothingStays, newCanary } from './fakes/canary.ts'
import { dumped } from './fakes/dumped.ts'
import type { Asked, Take } from './fakes/recorded.ts'
import { scripted } from './fakes/scripted.ts'
import { backend } from './contracts/stage.ts'

const linux = process.platform !== 'linux' && 'Linux alone shows the memory of a process'

t.test(
  'one gateway’s backend is another’s enclave, and the other holds nothing of a chat',
  { skip: linux },
  async (t) => {
    t.setTimeout(170_000)
    const folder = t.testdir({ front: { data: {} }, inner: { data: {} } })
    const { root, control, mark } = newCanary()
    const plays = scripted(() => [{ think: mark('thought') }, { say: mark('answer') }])
    const model = await backend(t, (request: Asked): Take => {
      const told = request.body.toString()
      if (told.includes(control)) return { body: '', pace: 'silent' }
      if (told.includes('wish-quote')) return { status: 400, body: JSON.stringify({ error: { message: told } }) }
      if (request.path.endsWith('/embeddings'))
        return { body: JSON.stringify({ data: [{ index: 0, embedding: [1, 0, 0, 0] }], usage: { prompt_tokens: 3 } }) }
      return plays(request)
    })
    const upstreams = [{ provider: 'backend', model: 'm' }]
    const confidential = { standard: false, confidential: true }
    const inner = await dumped(t, join(folder, 'inner'), {
      providers: { backend: { use: 'openai', baseUrl: `${model.url}/v1` } },
      models: {
        quiet: { ...confidential, upstreams },
        vectors: { ...confidential, type: 'EMBEDDING', upstreams },
        plain: { upstreams },
      },
      routing: { retries: 0, breaker: { faults: 1_000, ratio: 1 } },
    })
    const behind = (name: string) => ({ upstreams: [{ provider: 'inner', model: name }] })
    const front = await dumped(t, join(folder, 'front'), {
      providers: { inner: { use: 'sealed', baseUrl: inner.base, apiKey: inner.key, allowInsecureDev: true } },
      models: {
        asked: behind('quiet'),
        missing: behind('nobody'),
        near: { ...behind('vectors'), type: 'EMBEDDING' },
        twice: { ...confidential, ...behind('quiet') },
      },
      routing: { retries: 0, breaker: { faults: 1_000, ratio: 1 } },
    })

    const openai = new OpenAI({ baseURL: `${front.base}/v1`, apiKey: front.key, maxRetries: 0 })
    const messages = [{ role: 'user' as const, content: mark('prompt') }]
    const whole = await openai.chat.completions.create({ model: 'asked', messages })
    t.equal(whole.choices[0]?.message.content, mark('answer'), 'a whole answer')
    t.equal(whole.model, 'asked', 'under the front gateway’s own name of the model')
    let text = ''
    const options = { include_usage: true }
    let counted = 0
    for await (const { choices, usage } of await openai.chat.completions.create({
      ...{ model: 'asked', messages, stream: true, stream_options: options },
    })) {
      text += choices[0]?.delta.content ?? ''
      counted = usage?.total_tokens ?? counted
    }
    t.equal(text, mark('answer'), 'a stream')
    t.ok(counted > 0, 'whose use is counted')
    const anthropic = new Anthropic({ baseURL: front.base, apiKey: front.key, maxRetries: 0 })
    const message = await anthropic.messages.stream({ model: 'asked', max_tokens: 99, messages }).finalMessage()
    t.match(message.content.at(-1), { type: 'text', text: mark('answer') }, 'another dialect')
    const { data } = await openai.embeddings.create({
      model: 'near',
      input: mark('embedded'),
      encoding_format: 'float',
    })
    t.equal(data[0]?.embedding.length, 4, 'vectors')

    const sealing = connect({ baseUrl: front.base, apiKey: front.key, policy: { allowInsecureDev: true } })
    const sealed = await sealing.chat.completions.create({ model: 'twice', messages })
    t.equal(
      sealed.choices[0]?.message.content,
      mark('answer'),
      'the enclave of the one seals to the enclave of the other',
    )

    const fault = (work: Promise<unknown>) => work.then(() => null, ({ status, code }) => `${status} ${code}`) // prettier-ignore
    const refused = [{ role: 'user' as const, content: `${mark('refused')} wish-quote` }]
    t.equal(await fault(openai.chat.completions.create({ model: 'asked', messages: refused })), '400 refused')
    t.equal(await fault(openai.chat.completions.create({ model: 'missing', messages })), '502 model_not_found')

    const told = model.asked.map(({ body }) => body.toString())
    for (const place of ['prompt', 'embedded', 'refused'])
      t.ok(
        told.some((body) => body.includes(mark(place))),
        `the model is told the ${place}`,
      )
    t.notMatch(inner.said(), /"route":"POST \/(v1|std)\//, 'the inner gateway sees sealed routes alone')
    await nothingStays(t, [inner, join(folder, 'inner')], model, { root, control })
  },
)

t.test('a key that the inner gateway refuses is the operator’s matter', async (t) => {
  const folder = t.testdir({ front: { data: {} }, inner: { data: {} } })
  const inner = await dumped(t, join(folder, 'inner'), { providers: { rehearsal: { use: 'rehearsal' } } })
  const provider = (apiKey: string, more: object = {}) => ({ use: 'sealed', baseUrl: inner.base, apiKey, ...more })
  const model = (name: string) => ({ upstreams: [{ provider: name, model: 'rehearsal' }] })
  const front = await dumped(t, join(folder, 'front'), {
    enclave: { connect: ['/nowhere'] },
    providers: {
      wrong: provider('sk_live_wrong', { allowInsecureDev: true }),
      unproven: provider(inner.key),
    },
    models: { wrong: model('wrong'), unproven: model('unproven') },
    routing: { retries: 0 },
  })
  const ask = async (name: string) => {
    const answer = await fetch(`${front.base}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${front.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: name, messages: [{ role: 'user', content: 'Hi' }] }),
    })
    return { status: answer.status, body: await answer.json() }
  }
  t.match(await ask('wrong'), { status: 502, body: { error: { code: 'unauthorized' } } }, 'and no 401 of the caller')
  t.match(await ask('unproven'), { status: 502, body: { error: { code: 'insecure' } } }, 'nothing is sealed unproven')
  t.notMatch(inner.said(), /"route":"POST \/rvenc\/chat/)
})
