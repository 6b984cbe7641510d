import './fakes/unwatched.ts'
import { createHash } from 'node:crypto'
import { type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import t, { type Test } from 'tap'
import type { SealgateError } from '../plugins/sealed/client/error.ts'
import type { CheckedReceipt } from '../plugins/sealed/client/receipts.ts'
import { type AnswerChange, ehbpEnd } from './fakes/ehbp-server.ts'
import { fieldsEnd } from './fakes/fields-end.ts'
import { listening } from './fakes/listening.ts'
import { askingEnclave } from './fakes/platform/asking-enclave.ts'
import { madeAt, tlsIdentity } from './fakes/platform/confidential-backend.ts'
import {
  type Made,
  type OwnKeys,
  lists,
  makeDstack,
  makeNear,
  makeTinfoil,
} from './fakes/platform/service-documents.ts'
import { answersFor, makers } from './fakes/platform/services.ts'
import { makeTdx } from './fakes/platform/tdx.ts'

const secret = 'the herons of Skerry Point'
const tdxRoot = makeTdx({ now: madeAt, shared: true, reportData: new Uint8Array(64) }).roots

const completion = {
  ...{ id: 'one', object: 'chat.completion', created: 1, model: 'quiet' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'It stands.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
}
const event = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ ...{ id: 'one', object: 'chat.completion.chunk', created: 1, model: 'quiet' }, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const streamed = [
  event({ role: 'assistant', content: 'It ' }),
  event({ content: 'stands.' }, 'stop'),
  'data: [DONE]\n\n',
]

/** What the service answers to a plain request. */
const usual = (plain: string): AnswerChange =>
  plain.includes('"stream":true')
    ? { type: 'text/event-stream', plain: streamed }
    : { plain: [JSON.stringify(completion)] }

interface Changes {
  /** What the document says of itself, before it goes out. */
  readonly document?: (document: any) => void
  /** What the machine binds in the place of its own TLS key, sealing key or nonce. */
  readonly binds?: { readonly tls?: Uint8Array; readonly seal?: Uint8Array; readonly nonce?: Uint8Array }
  readonly answer?: (plain: string) => AnswerChange
}

/** A service on the loopback: its document, and chats that are sealed by its own protocol alone. */
const service = async (
  t: Test,
  said: (made: Made) => void,
  end: { readonly publicKey: string; serve(request: IncomingMessage, response: ServerResponse): unknown },
  make: (own: OwnKeys) => Made,
  { document, binds }: Changes,
) => {
  const own = tlsIdentity()
  const wire: string[] = []
  const tls = new Uint8Array(createHash('sha256').update(own.info).digest())
  const seal = new Uint8Array(Buffer.from(end.publicKey, 'hex'))
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const asked = new URL(request.url!, 'https://service').searchParams.get('nonce')
    if (asked !== null) {
      const made = make({ ...{ tls, seal, nonce: new Uint8Array(Buffer.from(asked, 'hex')), now: madeAt }, ...binds })
      said(made)
      document?.(made.document)
      return response.setHeader('content-type', 'application/json').end(JSON.stringify(made.document))
    }
    request.on('data', (part) => wire.push(String(part)))
    return end.serve(request, response)
  }
  const server = createServer(own, (request, response) => void serve(request, response))
  const { port } = await listening(t, server, '127.0.0.1')
  return { base: `https://127.0.0.1:${port}`, wire }
}

const tinfoil = async (t: Test, said: (made: Made) => void, changes: Changes = {}) => {
  const end = await ehbpEnd(changes.answer ?? usual)
  const made = await service(t, said, end, (own) => makeTinfoil('tdx', null, own), changes)
  return { ...made, requests: end.requests }
}

const other = new Uint8Array(32).fill(7)
const refused: Readonly<Record<string, Changes & { readonly services?: object }>> = {
  'another TLS key than the live one': { binds: { tls: other } },
  'another nonce than asked': { binds: { nonce: other } },
  'another key to seal to than the bound one': {
    document: (service) => (service.report_data.hpke_key = '07'.repeat(32)),
  },
  'another form of document': { document: (service) => (service.format += 'x') },
  'an image that no list names': {
    services: { tinfoil: { ...lists().tinfoil, images: [{ name: 'x', 'sev-snp': '00'.repeat(48) }] } },
  },
  'a GPU whose token nobody brings': { services: { tinfoil: lists().tinfoil, gpu: {} } },
}

const spoiled: Readonly<Record<string, (plain: string) => AnswerChange>> = {
  'an answer in the clear': (plain) => ({ ...usual(plain), withoutNonce: true }),
  'a changed byte': (plain) => ({
    ...usual(plain),
    framed: ([one]) => [Buffer.from(one!.map((byte, at) => (at === 9 ? byte ^ 1 : byte)))],
  }),
  'a chunk that is cut': (plain) => ({ ...usual(plain), framed: ([one]) => [one!.subarray(0, -1)] }),
  'a refusal in the clear': () => ({
    status: 400,
    plain: ['{"error":{"message":"forged words"}}'],
    withoutNonce: true,
  }),
}

/** An upstream that demands this evidence of a service. */
const demanding = (kind: string, base: string, services: object, collateral: object) => ({
  ...{ use: 'openai', baseUrl: `${base}/v1`, apiKey: 'any', api: 'chat' },
  evidence: { ...{ kind, certificate: 'any', collateral }, policy: { platforms: ['tdx'], services } },
})

t.test('an enclave chats with a service of Tinfoil’s form by the protocol that it asks for', async (t) => {
  const { say, settings: collateral } = await makers(t)
  const said = ({ evidence }: Made) => say(answersFor(Object.values(evidence)[0] as object))
  const provider = (base: string, services: object = { tinfoil: lists().tinfoil }) =>
    demanding('tinfoil', base, services, collateral)
  const good = await tinfoil(t, said)
  const wrong = await Promise.all(
    Object.entries(refused).map(async ([name, { services, ...changes }]) => {
      const service = await tinfoil(t, said, changes)
      return { name, service, settings: provider(service.base, services) }
    }),
  )
  const broken = await Promise.all(
    Object.entries(spoiled).map(async ([name, answer]) => ({ name, service: await tinfoil(t, said, { answer }) })),
  )
  const providers = {
    good: provider(good.base),
    ...Object.fromEntries(wrong.map(({ settings }, at) => [`w${at}`, settings])),
    ...Object.fromEntries(broken.map(({ service }, at) => [`b${at}`, provider(service.base)])),
  }
  const { client } = await askingEnclave(t, providers, tdxRoot)
  const ask = (model: string) => ({ model, messages: [{ role: 'user' as const, content: secret }] })
  const fault = (model: string): Promise<string> =>
    client.chat.completions.create(ask(model)).then(
      () => 'an answer',
      (error: SealgateError) => `${error.code} ${error.told ?? ''}`,
    )

  const kept: CheckedReceipt[] = []
  const receipt = (told: CheckedReceipt) => void kept.push(told)
  const whole = await client.chat.completions.create(ask('good'), { receipt })
  t.equal(whole.choices[0]!.message.content, 'It stands.')
  t.match(kept[0]!.facts.backendEvidence, { kind: 'tinfoil', platform: 'tdx', measurement: /^[0-9a-f]{96}$/ })
  const parts: string[] = []
  for await (const { choices } of await client.chat.completions.create({ ...ask('good'), stream: true as const }))
    parts.push(choices[0]?.delta.content ?? '')
  t.equal(parts.join(''), 'It stands.')
  t.equal(good.requests.length, 2)
  t.ok(
    good.requests.every((plain) => plain.includes(secret)),
    'the service opens the prompt',
  )
  t.notMatch(good.wire.join(''), /herons/, 'and the prompt is sealed inside TLS')

  for (const [at, { name, service }] of wrong.entries()) {
    t.match(await fault(`w${at}`), /^backend_unverified /, name)
    t.strictSame([...service.requests, ...service.wire], [], `${name}: no prompt`)
  }
  for (const [at, { name, service }] of broken.entries()) {
    const told = await fault(`b${at}`)
    t.notMatch(told, /^an answer|backend_unverified|forged/, `${name}: ${told}`)
    t.equal(service.requests.length, 1, name)
  }
})

const tools = [
  { type: 'function', function: { name: 'find', description: 'Finds herons.', parameters: { type: 'object' } } },
]
const call = { id: 'call_1', type: 'function', index: 0 }

/** What a proxy answers to sealed texts. */
const said: (seal: (text: string) => string, plain: any) => readonly string[] = (seal, { stream, tools }) => {
  if (stream === true)
    return [
      event({ role: 'assistant', content: seal('It ') }),
      event({ content: seal('stands.') }, 'stop'),
      'data: [DONE]\n\n',
    ]
  const message =
    tools === undefined
      ? { role: 'assistant', content: seal('It stands.') }
      : {
          role: 'assistant',
          content: null,
          tool_calls: [{ ...call, function: { name: seal('find'), arguments: seal('{}') } }],
        }
  return [JSON.stringify({ ...completion, choices: [{ index: 0, message, finish_reason: 'stop', logprobs: null }] })]
}

/** Answers of a proxy that are wrong in one thing. */
const spoiledFields: Readonly<Record<string, typeof said>> = {
  'a text in the clear': () => said((text) => text, {}),
  'a changed byte': (seal) => said((text) => seal(text).replace(/..$/, (byte) => (byte === '00' ? '01' : '00')), {}),
  'a text that is sealed to another key': (_, plain) => said(() => '07'.repeat(90), plain),
  'no JSON': () => ['<html>'],
}

for (const kind of ['near', 'dstack'] as const)
  t.test(`an enclave seals the texts of chats for a service of the kind ${kind}`, async (t) => {
    const { say, settings: collateral } = await makers(t)
    const told = ({ evidence }: Made) => say(answersFor(Object.values(evidence)[0] as object))
    const make = (own: OwnKeys) => (kind === 'near' ? makeNear(false, { own }) : makeDstack({ own }))
    const started = async (changes: Changes = {}, answer = said) => {
      const end = fieldsEnd(answer)
      const made = await service(t, told, end, make, changes)
      return { ...made, ...end, settings: demanding(kind, made.base, { [kind]: lists()[kind] }, collateral) }
    }
    const good = await started()
    const wrong = {
      'another TLS key than the live one': await started({ binds: { tls: other } }),
      'another nonce than asked': await started({ binds: { nonce: other } }),
      'another key to seal to than the bound one': await started({
        document: (service) => (service.signing_address = '07'.repeat(32)),
      }),
    }
    const broken = await Promise.all(
      Object.entries(spoiledFields).map(async ([name, answer]) => ({ name, service: await started({}, answer) })),
    )
    const named = Object.values(wrong).map(({ settings }, at) => [`w${at}`, settings] as const)
    const spoilt = broken.map(({ service }, at) => [`b${at}`, service.settings] as const)
    const { client } = await askingEnclave(
      t,
      { good: good.settings, ...Object.fromEntries([...named, ...spoilt]) },
      tdxRoot,
    )
    const ask = (model: string) => ({ model, messages: [{ role: 'user' as const, content: secret }] })
    const whole = await client.chat.completions.create(ask('good'))
    t.equal(whole.choices[0]!.message.content, 'It stands.')
    const parts: string[] = []
    for await (const { choices } of await client.chat.completions.create({ ...ask('good'), stream: true as const }))
      parts.push(choices[0]?.delta.content ?? '')
    t.equal(parts.join(''), 'It stands.')
    const called = await client.chat.completions.create({ ...ask('good'), tools })
    t.match(called.choices[0]!.message.tool_calls, [{ function: { name: 'find', arguments: '{}' } }])
    t.equal(good.requests.length, 3)
    t.ok(
      good.requests.every(({ body }) => body.messages[0].content === secret),
      'the proxy opens the prompt',
    )
    t.match(good.requests[2]!.body.tools[0].function, { description: 'Finds herons.', parameters: '{"type":"object"}' })
    t.match(good.requests[0]!.headers, { 'x-model-pub-key': good.publicKey, 'x-encryption-version': '2' })
    t.notMatch(good.wire.join(''), /herons/i, 'and every text is sealed inside TLS')

    const fault = (params: Parameters<typeof client.chat.completions.create>[0]) =>
      client.chat.completions.create(params as never).then(
        () => 'an answer',
        (error: SealgateError) => `${error.code} ${error.field ?? ''}`,
      )
    const before = good.wire.length
    t.notMatch(await fault({ ...ask('good'), stop: ['herons'] }), /^an answer/, 'a text that nothing seals')
    t.equal(good.wire.length, before, 'stays here')
    for (const [at, [name, { wire }]] of Object.entries(wrong).entries()) {
      t.match(await fault(ask(`w${at}`)), /^backend_unverified /, name)
      t.strictSame(wire, [], `${name}: no prompt`)
    }
    for (const [at, { name, service }] of broken.entries()) {
      t.notMatch(await fault(ask(`b${at}`)), /^an answer|backend_unverified/, name)
      t.equal(service.requests.length, 1, name)
    }
  })

t.test('services of a policy and evidence of a service come together', async (t) => {
  const upstream = (evidence: object) => ({
    one: { ...{ use: 'openai', baseUrl: 'https://127.0.0.1:1/v1', apiKey: 'any' }, evidence },
  })
  const refused = (evidence: object) => askingEnclave(t, upstream(evidence), tdxRoot)
  const words = /services of a policy are for evidence of services that exist/
  await t.rejects(refused({ kind: 'attested-tls', policy: { services: { tinfoil: lists().tinfoil } } }), words)
  await t.rejects(refused({ kind: 'tinfoil', policy: { measurements: ['ab'.repeat(48)] } }), words)
  await t.rejects(refused({ kind: 'tinfoil', policy: { services: { tinfoil: {} } } }), /services\.tinfoil\.images/)
})
