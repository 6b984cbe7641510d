import { aead } from '#aead'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { connect } from '../plugins/sealed/client/client.ts'
import type { Fault } from '../plugins/sealed/client/error.ts'
import { BadRequest, Unavailable, UpstreamFailed } from '../core/errors.ts'
import type { Chunk, Completion } from '../core/ports/upstream.ts'
import { padded, utf8, fromHex, toHex } from '../plugins/sealed/wire/bytes.ts'
import { frameOpener } from '../plugins/sealed/wire/frames.ts'
import { enclaveKid } from '../plugins/sealed/wire/keyset.ts'
import { streamKey } from '../plugins/sealed/wire/schedule.ts'
import { freshNonce, seal } from '../plugins/sealed/wire/seal.ts'
import { between } from './fakes/between.ts'
import {
  asking,
  chatRoute,
  crafted,
  craftedText,
  echo,
  framesOf,
  opened,
  type Sealed,
  sealedStage,
  without,
} from './fakes/sealing.ts'
import { until } from './until.ts'
import { isWhole } from './whole.ts'

const all = async <T>(chunks: AsyncIterable<T>): Promise<T[]> => {
  const seen: T[] = []
  for await (const chunk of chunks) seen.push(chunk)
  return seen
}

/** What our client throws, as far as it is told here. */
const faulty = (fault: Fault, facts: object = {}) => ({ name: 'SealgateError', fault, ...facts })

const textOf = (chunks: readonly Chunk[]) => chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')

/** A few at a time, so that thousands take seconds. */
const each = async <T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> => {
  const left = items.values()
  const work = async () => {
    for (const item of left) await run(item)
  }
  await Promise.all(Array.from({ length: 8 }, work))
}

const flipped = (hex: string, bit: number): string => {
  const bytes = fromHex(hex, hex.length)!
  bytes[bit >> 3]! ^= 1 << (bit & 7)
  return toHex(bytes)
}

/** The one answer to whatever can't be opened. */
const refusal = async (stage: Sealed): Promise<string> => {
  const { body } = crafted(await stage.key(), asking('x'))
  const answer = await stage.send({ ...body, nonce: toHex(freshNonce()) })
  const text = await answer.text()
  if (answer.status !== 400) throw new Error(text)
  return without(text)
}

t.test('what a caller asks arrives, and what the backend says comes back', async (t) => {
  const usage = {
    prompt_tokens: 11,
    completion_tokens: 6,
    total_tokens: 17,
    completion_tokens_details: { reasoning_tokens: 4 },
  }
  const head = { id: 'c1', created: 1_700_000_000, model: 'its-own-name', system_fingerprint: 'fp' }
  const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Ulm"}' } }
  const completion: Completion = {
    ...head,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: null, reasoning_content: 'Ulm, then', tool_calls: [call] },
        finish_reason: 'tool_calls',
        matched_stop: null,
      },
    ],
    usage,
  }
  const of = (delta: Chunk['choices'][number]['delta'], more: object = {}): Chunk => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: null, matched_stop: null, ...more }],
    usage: null,
  })
  async function* chunks(): AsyncGenerator<Chunk> {
    yield of({ role: 'assistant', content: null, reasoning_content: 'Ulm, ', tool_calls: null })
    yield of({ reasoning_content: 'then' })
    yield of({ tool_calls: [{ index: 0, ...call, function: { name: 'weather', arguments: '{"city":' } }] })
    yield of({ tool_calls: [{ index: 0, function: { arguments: '"Ulm"}' } }] })
    yield of({}, { finish_reason: 'tool_calls' })
    yield { ...head, object: 'chat.completion.chunk', choices: [], usage }
  }
  const stage = await sealedStage(t, {
    play: ({ stream }) => (stream ? { kind: 'chunks', chunks: chunks() } : { kind: 'completion', completion }),
  })
  const params = {
    model: 'quiet',
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Wie wird das Wetter? ☂' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
        ],
      },
    ],
    tools: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }],
    response_format: { type: 'json_object' },
    reasoning_effort: 'low',
    max_completion_tokens: 99,
  }
  const { model: _, ...body } = params
  const whole = await stage.client.chat.completions.create({ ...params, stream: false })
  t.same(whole, { ...completion, model: 'quiet' })
  t.same(stage.calls[0], { model: 'quiet', body, stream: false, tries: 0 })

  const streamed = await all(await stage.client.chat.completions.create({ ...params, stream: true }))
  t.same(stage.calls[1], {
    model: 'quiet',
    body: { ...body, stream_options: { include_usage: true } },
    stream: true,
    tries: 0,
  })
  const deltas = streamed.flatMap(({ choices }) => choices)
  t.equal(deltas.map(({ delta }) => delta.reasoning_content ?? '').join(''), 'Ulm, then')
  const parts = deltas.flatMap(({ delta }) => delta.tool_calls ?? [])
  t.equal(parts.map((part) => part.function?.arguments).join(''), '{"city":"Ulm"}')
  t.match(parts[0], { index: 0, id: 'call_1', type: 'function', function: { name: 'weather' } })
  t.equal(deltas.at(-1)!.finish_reason, 'tool_calls')
  t.ok(
    streamed.every((chunk) => chunk.model === 'quiet' && chunk.id === 'c1' && chunk.object === 'chat.completion.chunk'),
  )
  t.notOk(
    streamed.some((chunk) => chunk.usage != null),
    'nobody asked for the usage',
  )
  const counted = await all(
    await stage.client.chat.completions.create({ ...params, stream: true, stream_options: { include_usage: true } }),
  )
  t.same(counted.at(-1)!.usage, usage)

  const used = async () => ((await (await stage.call('GET', '/admin/usage')).json()) as any).data.usage
  t.ok(await until(async () => (await used())[0]?.requests === 3, 10_000, 200))
  t.match(await used(), [{ model: 'quiet', requests: 3, input: 33, output: 18, reasoning: 12, cost: 0.051 }])
  t.equal((await used()).length, 1)
})

t.test('who may use what', async (t) => {
  const stage = await sealedStage(t)
  const names = async (key: string) => {
    const answer = await stage.call('GET', '/rvenc/models', undefined, { authorization: `Bearer ${key}` })
    const { data, keyset } = (await answer.json()) as any
    t.match(keyset, { keyset: /^[0-9a-f]+$/, evidence: { type: 'dev', env: 'development' } })
    return data.map(({ model }: any) => model)
  }
  t.same(await names(stage.apiKey), ['quiet', 'other', 'hearing'])
  const { credential } = await stage.gateway.keys.create({ models: ['other', 'loud'] })
  t.same(await names(credential), ['other'])
  const own = connect({ baseUrl: stage.base, apiKey: credential, policy: { allowInsecureDev: true } })
  const refused = faulty('failed', { status: 404, code: 'unknown_model', field: 'model' })
  t.ok(await own.chat.completions.create(asking('x', { model: 'other' })))
  await t.rejects(own.chat.completions.create(asking('x')), refused, 'not on its list')
  await t.rejects(own.chat.completions.create(asking('x', { model: 'loud' })), refused, 'not confidential')
  await t.rejects(own.chat.completions.create(asking('x', { model: 'hearing' })), refused, 'no chat model')
  await t.rejects(stage.client.chat.completions.create(asking('x', { model: 'loud' })), refused)
  const plain = await stage.call('POST', '/std/chat/completions', asking('x'))
  t.equal(plain.status, 400)
  t.match(await plain.json(), { error: /available for encrypted inference only/ })
  const none = await stage.gateway.keys.create({ scopes: ['models.read'] })
  const { body } = crafted(await stage.key(), asking('x'))
  for (const [key, status] of [
    [none.credential, 403],
    ['sk_live_none', 401],
  ] as const) {
    const answer = await stage.call('POST', `/${chatRoute}`, body, { authorization: `Bearer ${key}` })
    t.equal(answer.status, status)
  }
  t.equal(stage.calls.length, 1)
})

t.test('a wrong outer shape names the field', async (t) => {
  const stage = await sealedStage(t, { own: { kems: ['x-wing', 'x25519'] } })
  const { body } = crafted(await stage.key(), asking('x'))
  const bad: readonly (readonly [field: string, value: unknown])[] = [
    ...['encryptedInference', 'cipherText', 'nonce'].flatMap((field) =>
      [undefined, null, 7, {}, '', '0', 'zz'.repeat(30), `${body[field]} `].map((value) => [field, value] as const),
    ),
    ...[1119, 1121, 1087, 1089, 31, 33, 1216].map((length) => ['cipherText', '00'.repeat(length)] as const),
    ['cipherText', '00'.repeat(1088)],
    ['nonce', '00'.repeat(23)],
    ['nonce', '00'.repeat(25)],
    ['encryptedInference', '00'.repeat(15)],
    ...['', '00', 'zz'.repeat(8), 7].map((value) => ['enclaveKid', value] as const),
  ]
  for (const [field, value] of bad) {
    const answer = await stage.send({ ...body, [field]: value })
    const parsed = (await answer.json()) as any
    t.equal(answer.status, 400, `${field} ${String(value).slice(0, 20)}`)
    t.match(parsed, { status: 400, data: null, error: String, validator: { [field]: String } })
    t.same(Object.keys(parsed.validator), [field])
  }
  for (const text of ['{', '[]', 'null', '"x"', ''])
    t.equal((await stage.call('POST', `/${chatRoute}`, text)).status, 400)
  t.equal((await stage.send({ ...body, decryptedInference: {} })).status, 200, 'other fields are ignored')
  t.equal(stage.calls.length, 1)
})

/** `npm test` flips every fifth of the bits that the night flips; five shares no divisor with the eight bits of a byte. */
const share = isWhole ? 1 : 5

t.test('every flipped bit is one and the same refusal', async (t) => {
  const stage = await sealedStage(t)
  const same = await refusal(stage)
  t.match(JSON.parse(same), { status: 400, error: 'The request could not be decrypted', validator: null, data: null })
  const tried = async (kind: 'x-wing' | 'ml-kem-768' | 'x25519') => {
    const { body } = crafted(await stage.key(kind), asking('untouched'))
    const bits = (field: string, step: number) => {
      const every = step * share
      const length = body[field]!.length * 4
      const count = Math.ceil(length / every)
      // Another bit of each byte, so that all eight get their turn.
      return Array.from(
        { length: count },
        (_, at) => [field, (at * every + (every % 8 === 0 ? at % 8 : 0)) % length] as const,
      )
    }
    const small = kind === 'x25519'
    const cases = [
      ...bits('nonce', 1),
      ...bits('cipherText', small ? 1 : 8),
      ...bits('encryptedInference', small ? 1 : 8),
    ]
    const heads = new Set<string>()
    await each(cases, async ([field, bit]) => {
      const answer = await stage.send({ ...body, [field]: flipped(body[field]!, bit) })
      const text = await answer.text()
      if (answer.status !== 400 || without(text) !== same) t.fail(`${kind} ${field} bit ${bit}: ${text}`)
      heads.add([...answer.headers.keys()].filter((name) => !/^(date|keep-alive|connection)$/.test(name)).join())
    })
    t.equal(heads.size, 1, 'the same headers')
    t.equal((await stage.send(body)).status, 200, `${kind}: ${cases.length} flipped ones left no trace`)
    return cases.length
  }
  const counts = [await tried('x-wing'), await tried('ml-kem-768'), await tried('x25519')]
  t.equal(stage.calls.length, 3)
  t.ok(counts[0]! > 1500 / share, counts.join(' + '))
  const { body } = crafted(await stage.key(), asking('x'))
  for (let bit = 0; bit < 64; bit++) {
    const answer = await stage.send({ ...body, enclaveKid: flipped(body['enclaveKid']!, bit) })
    const parsed = (await answer.json()) as any
    if (answer.status !== 400 || parsed.validator?.enclaveKid === undefined) t.fail(`kid bit ${bit}`)
  }
})

t.test('what opens and is no request of ours is the same refusal', async (t) => {
  const stage = await sealedStage(t)
  const same = await refusal(stage)
  const key = await stage.key()
  const cases: Record<string, object> = {}
  for (const text of ['', '{', '{"model":', 'null', '[]', '"x"', '7', '\u0000'])
    cases[JSON.stringify(text)] = craftedText(key, text).body
  const { body, secret, nonce } = crafted(key, asking('x'))
  const sealed = (plain: Uint8Array) => toHex(seal(secret, nonce, plain))
  cases['not UTF-8'] = { ...body, encryptedInference: sealed(Uint8Array.of(0xff, 0xfe)) }
  cases['cut'] = { ...body, encryptedInference: body['encryptedInference']!.slice(0, -2) }
  cases['longer'] = { ...body, encryptedInference: `${body['encryptedInference']}00` }
  cases['of another'] = { ...body, cipherText: crafted(key, asking('x')).body['cipherText'] }
  cases['for another kind'] = { ...body, enclaveKid: enclaveKid(await stage.key('ml-kem-768')) }
  cases['zeros'] = { ...body, cipherText: '00'.repeat(1120) }
  const { enclaveKid: _, ...unnamed } = crafted(await stage.key('x25519'), asking('x')).body
  cases['a point of low order'] = { ...unnamed, cipherText: '00'.repeat(32) }
  cases['another one'] = { ...unnamed, cipherText: `01${'00'.repeat(31)}` }
  for (const [name, wrong] of Object.entries(cases)) {
    const answer = await stage.send(wrong)
    const text = await answer.text()
    if (name === 'for another kind') t.ok(JSON.parse(text).validator.enclaveKid)
    else t.equal(without(text), same, name)
    t.equal(answer.status, 400, name)
  }
  t.equal(stage.calls.length, 0)
})

t.test('keys: unknown, older, next, over', async (t) => {
  const stage = await sealedStage(t)
  const first = await stage.key()
  const send = async (key: typeof first, named = true) => {
    const { enclaveKid: kid, ...body } = crafted(key, asking('x')).body
    const answer = await stage.send(named ? { ...body, enclaveKid: kid } : body)
    return { status: answer.status, said: (await answer.json()) as any }
  }
  t.equal((await send(first)).status, 200)
  t.equal((await send(first, false)).status, 200, 'without a name it is found')
  const unknown = { ...first, publicKey: (await stage.key('ml-kem-768')).publicKey }
  const { body } = crafted(first, asking('x'))
  const answer = await stage.send({ ...body, enclaveKid: enclaveKid(unknown) })
  t.equal(answer.status, 400)
  t.match(await answer.json(), { error: 'Unknown or expired enclave key', validator: { enclaveKid: String } })

  const minute = 60_000
  stage.later(52 * minute)
  const next = await stage.key()
  t.not(enclaveKid(next), enclaveKid(first), 'published ten minutes ahead')
  t.equal(next.notBefore, first.notAfter)
  for (const named of [true, false]) t.equal((await send(next, named)).status, 200, 'the next one opens')
  stage.later(15 * minute)
  for (const named of [true, false]) t.equal((await send(first, named)).status, 200, 'the last one still opens')
  stage.later(5 * minute)
  const { status, said: refused } = await send(first)
  t.equal(status, 400, 'and then it is over')
  t.match(refused.validator, { enclaveKid: String })
  t.equal((await send(first, false)).said.error, 'The request could not be decrypted')
})

t.test('nothing runs twice', async (t) => {
  const stage = await sealedStage(t, {
    async play(call, signal) {
      await sleep(30)
      return echo(call, signal)
    },
  })
  const same = await refusal(stage)
  for (const stream of [false, true]) {
    const before = stage.calls.length
    const { body } = crafted(await stage.key(), asking('once', { stream }))
    const answers = await Promise.all(Array.from({ length: 50 }, () => stage.send(body)))
    const texts = await Promise.all(answers.map((answer) => answer.text()))
    t.equal(stage.calls.length - before, 1, 'of 50 copies at once one was executed')
    t.equal(answers.filter(({ status }) => status === 200).length, 1)
    t.equal(texts.filter((text, at) => answers[at]!.status === 400 && without(text) === same).length, 49)
    t.equal(without(await (await stage.send(body)).text()), same, 'and none later')
  }
  const id = toHex(randomBytes(16))
  const send = async (params: object, kind?: 'ml-kem-768') => {
    const answer = await stage.send(crafted(await stage.key(kind), params).body)
    return { status: answer.status, text: await answer.text() }
  }
  const before = stage.calls.length
  t.equal((await send(asking('x', { $id: id }))).status, 200)
  t.equal(without((await send(asking('x', { $id: id }))).text), same, 'not sealed anew')
  t.equal(without((await send(asking('y', { $id: id }), 'ml-kem-768')).text), same, 'nor by another kind')

  const held = crafted(await stage.key(), asking('held back', { $id: toHex(randomBytes(16)), model: 'other' }))
  const idOf = toHex(randomBytes(16))
  const first = crafted(await stage.key(), asking('held back', { $id: idOf }))
  stage.later(55 * 60_000)
  const second = crafted(await stage.key(), asking('held back', { $id: idOf }))
  t.equal((await stage.send(second.body)).status, 200, 'a retry under the next key')
  t.equal(without(await (await stage.send(first.body)).text()), same, 'what was held back is not run beside it')
  t.equal((await stage.send(held.body)).status, 200, 'while another one is')
  t.equal(stage.calls.length - before, 3)
})

t.test('a request is for one route', async (t) => {
  const stage = await sealedStage(t)
  const code = async (route: string | null) => {
    const made = crafted(await stage.key(), asking('x'), route)
    const answer = await stage.send(made.body)
    const body = (await answer.json()) as any
    return { status: answer.status, said: body, inside: body.data ? opened(made, body.data) : null }
  }
  for (const route of ['rvenc/audio/transcriptions', `/${chatRoute}`, '', 'tools/searchRag']) {
    const { status, said: refused, inside } = await code(route)
    t.equal(status, 400, route)
    t.equal(refused.error, 'The request was sealed for another route')
    t.same(Object.keys(refused.data).sort(), ['encryptedResponse', 'nonce'])
    t.same(inside, { code: 'sealed_elsewhere' })
  }
  t.equal(stage.calls.length, 0)
  t.equal((await code(null)).status, 200, 'who names none is believed')
  const strict = await sealedStage(t, { own: { requireBinding: true } })
  const made = crafted(await strict.key(), asking('x'), null)
  const answer = await strict.send(made.body)
  t.equal(answer.status, 400, 'unless all must')
  t.same(opened(made, ((await answer.json()) as any).data), { code: 'sealed_elsewhere' })
  t.ok(await strict.client.chat.completions.create(asking('x')), 'our client does')
  t.equal(strict.calls.length, 1)
})

t.test('parts can’t take each other’s places', async (t) => {
  const stage = await sealedStage(t)
  const same = await refusal(stage)
  const route = 'rvenc/audio/transcriptions'
  const audio = async (change: (body: Record<string, string>) => object = (body) => body) => {
    const made = crafted(await stage.key(), { model: 'hearing' }, route)
    const [fileNameNonce, fileNonce] = [freshNonce(), freshNonce()]
    const body = {
      ...made.body,
      model: 'hearing',
      fileNameNonce: toHex(fileNameNonce),
      encryptedFileName: toHex(seal(made.secret, fileNameNonce, utf8('a.wav'))),
      fileNonce: toHex(fileNonce),
      encryptedFile: toHex(seal(made.secret, fileNonce, utf8('{"model":"hearing"}'))),
    }
    const answer = await stage.send(change(body), route)
    const parsed = (await answer.json()) as any
    return { status: answer.status, said: parsed, inside: parsed.data?.nonce ? opened(made, parsed.data) : null }
  }
  t.match((await audio()).inside, { results: { channels: [{ alternatives: [{ transcript: 'heard' }] }] } })
  const swaps: Record<string, (body: Record<string, string>) => object> = {
    'name and file': ({ encryptedFileName: a, encryptedFile: b, ...rest }) => ({
      ...rest,
      encryptedFileName: b,
      encryptedFile: a,
    }),
    'nonces of name and file': ({ fileNameNonce: a, fileNonce: b, ...rest }) => ({
      ...rest,
      fileNameNonce: b,
      fileNonce: a,
    }),
    'parameters and file': ({ encryptedInference: a, encryptedFile: b, ...rest }) => ({
      ...rest,
      encryptedInference: b,
      encryptedFile: a,
    }),
  }
  for (const [name, swap] of Object.entries(swaps)) {
    const { status, said: refused } = await audio(swap)
    t.equal(status, 400, name)
    t.equal(without(JSON.stringify(refused)), same, name)
  }
  const named = await audio(
    ({ encryptedFileName: a, fileNameNonce: an, encryptedInference: b, nonce: bn, ...rest }) => ({
      ...rest,
      encryptedFileName: b,
      fileNameNonce: bn,
      encryptedInference: a,
      nonce: an,
    }),
  )
  t.equal(named.status, 400, 'a name with its nonce in the place of the parameters')
  t.equal(without(JSON.stringify(named.said)), same)
  for (const [one, other] of [
    ['nonce', 'fileNonce'],
    ['nonce', 'fileNameNonce'],
    ['fileNonce', 'fileNameNonce'],
  ] as const) {
    const { status, said: refused } = await audio((body) => ({ ...body, [one]: body[other] }))
    t.equal(status, 400)
    t.match(refused, { error: 'Nonces must differ', validator: { nonce: String } }, `${one} and ${other} equal`)
  }
  const chat = crafted(await stage.key(), asking('x'))
  t.not((await stage.send(chat.body, route)).status, 200, 'a chat request is no audio request')
  t.equal(stage.calls.length, 0)
})

t.test('what fails after opening says so only inside', async (t) => {
  const faults: Record<string, Error> = {
    refuses: new BadRequest('The backend refused', { validator: { temperature: 'expected less' } }),
    breaks: new UpstreamFailed(undefined, { again: false }),
    rests: new Unavailable(),
    odd: new TypeError('quotes canary-of-the-user'),
  }
  const stage = await sealedStage(t, {
    play(call, signal) {
      const fault = faults[String(call.body.messages.at(-1)!.content)]
      if (fault !== undefined) throw fault
      return echo(call, signal)
    },
  })
  const cases: readonly (readonly [params: object, status: number, inside: object])[] = [
    [asking('x', { model: 'nobody-of-mine' }), 404, { code: 'unknown_model', field: 'model' }],
    [asking('x', { messages: 'canary-of-the-user' }), 400, { code: 'invalid_parameters', field: 'messages' }],
    [
      asking('x', { messages: [{ role: 'canary-of-the-user' }] }),
      400,
      { code: 'invalid_parameters', field: 'messages.0.role' },
    ],
    [asking('x', { provider: 'NO' }), 400, { code: 'invalid_parameters', field: 'provider' }],
    [asking('x', { provider: 'nobody' }), 400, { code: 'refused', field: 'provider' }],
    [{ model: 'quiet' }, 400, { code: 'invalid_parameters', field: 'messages' }],
    [asking('refuses'), 400, { code: 'refused', field: 'temperature' }],
    [asking('breaks'), 502, { code: 'upstream_failed' }],
    [asking('rests'), 503, { code: 'unavailable' }],
    [asking('odd'), 503, { code: 'unavailable' }],
  ]
  for (const [params, status, inside] of cases) {
    const name = JSON.stringify(params)
    const made = crafted(await stage.key(), params)
    const answer = await stage.send(made.body)
    const text = await answer.text()
    const parsed = JSON.parse(text)
    t.equal(answer.status, status, name)
    t.match(parsed, { status, error: String, message: null, validator: null, support_id: String }, name)
    t.same(Object.keys(parsed.data).sort(), ['encryptedResponse', 'nonce'])
    t.same(opened(made, parsed.data), inside, name)
    t.not(parsed.data.nonce, made.body['nonce'])
    t.notMatch(text, /canary|temperature|nobody/)
    const { code, field = null } = inside as any
    await t.rejects(stage.client.chat.completions.create(params as any), faulty('failed', { status, code, field }))
  }
  t.notMatch(JSON.stringify(stage.logged), /canary/)
})

t.test('the client believes nobody between', async (t) => {
  const stage = await sealedStage(t)
  const answerOf = (body: string) => JSON.parse(body) as { encryptedResponse: string; nonce: string }
  let earlier = ''
  const lies: Record<string, (answer: string, sent: string) => string> = {
    'its own request come back'(_, sent) {
      const { encryptedInference, nonce } = JSON.parse(sent) as Record<string, string>
      return JSON.stringify({ encryptedResponse: encryptedInference, nonce })
    },
    'an answer to another request': (answer) => {
      const given = earlier || answer
      earlier = answer
      return given
    },
    'another nonce': (answer) => JSON.stringify({ ...answerOf(answer), nonce: toHex(freshNonce()) }),
    'a short nonce': (answer) => JSON.stringify({ ...answerOf(answer), nonce: '00' }),
    'a flipped bit': (answer) =>
      JSON.stringify({ ...answerOf(answer), encryptedResponse: flipped(answerOf(answer).encryptedResponse, 77) }),
    'plain text': () => JSON.stringify({ choices: [{ message: { content: 'trust me' } }] }),
    nothing: () => 'null',
    'the envelope': (answer) => JSON.stringify({ data: answerOf(answer) }),
  }
  for (const [name, lie] of Object.entries(lies)) {
    const baseUrl = await between(t, stage.base, lie)
    const client = connect({ baseUrl, apiKey: stage.apiKey, policy: { allowInsecureDev: true } })
    if (name === 'an answer to another request') await client.chat.completions.create(asking('first'))
    await t.rejects(client.chat.completions.create(asking('second')), faulty('damaged'), name)
  }
  const baseUrl = await between(t, stage.base, (answer) => answer.slice(0, -9))
  const cut = connect({ baseUrl, apiKey: stage.apiKey, policy: { allowInsecureDev: true } })
  await t.rejects(cut.chat.completions.create(asking('x')), faulty('truncated'))
  const careful = connect({ baseUrl: stage.base, apiKey: stage.apiKey })
  const before = stage.calls.length
  await t.rejects(
    careful.chat.completions.create(asking('x')),
    faulty('insecure'),
    'nothing is sealed to whom proves nothing',
  )
  t.equal(stage.calls.length, before)
  const nobody = connect({ baseUrl: 'http://127.0.0.1:1', apiKey: 'k' })
  await t.rejects(nobody.chat.completions.create(asking('x')), faulty('unreachable'))
  await t.rejects(nobody.models.list(), faulty('unreachable'))
})

t.test('an enclave that was started anew costs one retry', async (t) => {
  const stage = await sealedStage(t)
  t.ok(await stage.client.chat.completions.create(asking('before')))
  stage.restart()
  t.match(await stage.client.chat.completions.create(asking('after')), { choices: [{ message: { content: 'after' } }] })
  stage.restart()
  t.equal(
    textOf(await all(await stage.client.chat.completions.create({ ...asking('and streamed'), stream: true }))),
    'and streamed',
  )
  t.equal(stage.calls.length, 3)
  let asked = 0
  const baseUrl = await between(t, stage.base, () => {
    asked++
    return JSON.stringify({ validator: { enclaveKid: 'no' } })
  })
  const client = connect({
    baseUrl,
    apiKey: stage.apiKey,
    policy: { allowInsecureDev: true },
    fetch: async (url, init) => {
      const answer = await fetch(url, init)
      return String(url).endsWith('completions') ? new Response(answer.body, { status: 400 }) : answer
    },
  })
  await t.rejects(client.chat.completions.create(asking('x')), faulty('refused', { status: 400 }))
  t.equal(asked, 2, 'one, and never more')
})

/** What one learns of many texts under one keystream when one of them is known: all the others, as far as it goes. */
const guessed = (texts: readonly Uint8Array[], known: readonly Uint8Array[]): Uint8Array[] =>
  texts.flatMap((one, at) =>
    known.flatMap((guess) => {
      const stream = guess.map((byte, i) => byte ^ (one[i] ?? 0))
      return texts
        .filter((_, other) => other !== at)
        .map((text) => text.slice(0, stream.length).map((byte, i) => byte ^ stream[i]!))
    }),
  )

t.test('a stream under the request’s own key and nonce would be read; ours is not', async (t) => {
  const secretWord = 'the-password-is-swordfish'
  const stage = await sealedStage(t)
  const made = crafted(await stage.key(), asking(`${secretWord} and ${'so on '.repeat(150)}`, { stream: true }))
  const frames = framesOf(await (await stage.send(made.body)).text())
  t.ok(frames.length > 2, `${frames.length} frames`)
  const open = frameOpener(streamKey(made.secret, made.nonce))
  const plain = frames.map((frame) => open(frame)!.plain)
  const request = padded(utf8(JSON.stringify(asking(secretWord, { stream: true }))), 256)
  // Whoever carries it is given the last text outright, and the blanks that others end in.
  const known = [plain.at(-1)!, new Uint8Array(512).fill(0x20)]
  const found = (candidates: readonly Uint8Array[]) =>
    candidates.filter((candidate) => Buffer.from(candidate).includes(secretWord)).length

  const literal = [request, ...plain].map((text) => seal(made.secret, made.nonce, text).slice(0, -16))
  t.ok(found(guessed(literal, known)) > 0, 'taken to the letter, the interface gives the prompt away')

  const ours = [fromHex(made.body['encryptedInference']!, 1 << 20)!, ...frames.map((frame) => frame.slice(24))]
  t.equal(
    found(
      guessed(
        ours.map((text) => text.slice(0, -16)),
        known,
      ),
    ),
    0,
  )
  const likely = guessed(ours, known).map((bytes) => {
    const printable = bytes.filter((byte) => byte >= 0x20 && byte < 0x7f).length / bytes.length
    return Math.abs(printable - 95 / 256)
  })
  t.ok(Math.max(...likely) < 0.15, 'what comes out is noise')
})

t.test('no key meets a nonce twice', async (t) => {
  const stage = await sealedStage(t, {
    play(call, signal) {
      if (call.body.messages.at(-1)!.content === 'breaks') throw new UpstreamFailed(undefined, { again: false })
      return echo(call, signal)
    },
  })
  const pairs = new Set<string>()
  const twice: string[] = []
  const { seal: original } = aead
  const watched: typeof original = (key, nonce, plain, aad) => {
    const pair = toHex(key) + toHex(nonce)
    if (pairs.has(pair)) {
      twice.push(pair)
      throw new Error('A nonce was used twice')
    }
    pairs.add(pair)
    return original(key, nonce, plain, aad)
  }
  aead.seal = watched
  t.teardown(() => void (aead.seal = original))
  const kinds: readonly object[] = [
    asking('whole'),
    asking('streamed '.repeat(60), { stream: true }),
    asking('breaks'),
    asking('breaks', { stream: true }),
    asking('x', { model: 'nobody' }),
  ]
  const rounds = isWhole ? 40 : 10
  for (let round = 0; round < rounds; round++) {
    for (const params of kinds) {
      try {
        const answer: any = await stage.client.chat.completions.create(params as any)
        if (Symbol.asyncIterator in answer) await all(answer)
      } catch (error) {
        if ((error as { fault?: string }).fault !== 'failed') throw error
      }
    }
  }
  t.same(twice, [])
  const requests = rounds * kinds.length
  t.ok(pairs.size > 2 * requests, `${pairs.size} sealings of ${requests} requests`)
  const [key, nonce] = [randomBytes(32), randomBytes(24)]
  seal(key, nonce, utf8('a'))
  t.throws(() => seal(key, nonce, utf8('b')), /twice/, 'it would be seen')
})
