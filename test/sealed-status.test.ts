import './fakes/unwatched.ts'
import t from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { type Client, connect } from '../plugins/sealed/client/client.ts'
import { running, unhurried } from './environments.ts'
import { asking, chatRoute, crafted, opened, sealedStage } from './fakes/sealing.ts'

type Fetch = typeof globalThis.fetch

/** What our client throws, as far as it is told here. */
const faulty = (facts: object) => ({ name: 'SealgateError', ...facts })

/** A line that says another status, and may move the sealed pair to where answers of that status have it. */
const relabelling =
  (path: RegExp, status: number, change: (body: any) => unknown): Fetch =>
  async (asked, init) => {
    const answer = await fetch(asked, init)
    if (init?.method !== 'POST' || !path.test(String(asked))) return answer
    return new Response(JSON.stringify(change(await answer.json())), { status })
  }

t.test('an answer says inside its seal what it is, where the request asks', async (t) => {
  const stage = await sealedStage(t)
  const ask = async (params: object, asks: unknown) => {
    const made = crafted(await stage.key(), { ...params, ...(asks !== undefined && { $status: asks }) })
    const answer = await stage.send(made.body)
    const body = (await answer.json()) as any
    return opened(made, body.data ?? body)
  }
  const unknown = asking('x', { model: 'nobody' })
  const failed = { code: 'unknown_model', field: 'model' }
  t.match(await ask(asking('hello'), true), {
    $for: chatRoute,
    $status: 'result',
    value: { object: 'chat.completion', choices: [{ message: { content: 'hello' } }] },
  })
  t.same(await ask(unknown, true), { $for: chatRoute, $status: 'failure', value: failed })
  for (const asks of [undefined, false, 'true']) {
    t.match(await ask(asking('hello'), asks), { object: 'chat.completion', $status: undefined })
    t.same(await ask(unknown, asks), failed, 'as the interface has it')
  }
  const made = crafted(await stage.key(), { ...asking('x'), $status: true }, 'tools/getTime')
  const elsewhere = (await (await stage.send(made.body)).json()) as any
  t.same(opened(made, elsewhere.data), { $for: chatRoute, $status: 'failure', value: { code: 'sealed_elsewhere' } })
  t.notOk(
    stage.calls.some(({ body }) => '$status' in body),
    'no backend is told of it',
  )
})

t.test('our client goes by what is inside', async (t) => {
  const gateway = await sealedStage(t)
  const stage = await running(t, memory(), unhurried)
  const lying = (base: string, apiKey: string, fetch: Fetch): Client =>
    connect({ baseUrl: base, apiKey, policy: { allowInsecureDev: true }, fetch })
  const chat = (fetch: Fetch) => lying(gateway.base, gateway.apiKey, fetch).chat.completions
  const tool = (fetch: Fetch) => lying(stage.base, stage.key, fetch).tools
  const speech = (fetch: Fetch) => lying(gateway.base, gateway.apiKey, fetch).audio.transcriptions
  const file = { name: 'a.wav', bytes: new Uint8Array(64) }
  const [asChat, asTool, asAudio] = [/rvenc\/chat/, /tools\/getTime/, /rvenc\/audio/]

  const inner = relabelling(asChat, 200, ({ data }) => data)
  await t.rejects(
    chat(inner).create(asking('x', { model: 'nobody' })),
    faulty({ fault: 'failed', code: 'unknown_model', field: 'model' }),
    'a failure of chat, relabelled as 200',
  )
  await t.rejects(
    tool(relabelling(asTool, 200, (body) => body)).call('getTime', { timezone: 'Mars' }),
    faulty({ fault: 'failed', code: 'invalid_parameters', field: 'timezone' }),
    'a failure of a tool, relabelled as 200',
  )
  await t.rejects(
    speech(relabelling(asAudio, 200, (body) => body)).create({ model: 'nobody', file }),
    faulty({ fault: 'failed', code: 'unknown_model' }),
    'a failure of audio, relabelled as 200',
  )
  await t.rejects(
    chat(relabelling(asChat, 400, (data) => ({ data }))).create(asking('x')),
    faulty({ fault: 'damaged' }),
    'a result of chat, relabelled as a failure',
  )
  await t.rejects(
    tool(relabelling(asTool, 502, (body) => body)).call('getTime', { timezone: 'Asia/Tokyo' }),
    faulty({ fault: 'damaged' }),
    'a result of a tool, relabelled as a failure',
  )
  await t.rejects(
    speech(relabelling(asAudio, 404, (body) => body)).create({ model: 'hearing', file }),
    faulty({ fault: 'damaged' }),
    'a result of audio, relabelled as a failure',
  )
})
